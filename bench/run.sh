#!/usr/bin/env bash
# make bench: our own step benchmark, then the comparison with TensorFlow in one run, interleaved, where the harness is at hand.
# TANDEM_BENCH_HARNESS names its folder (default: ../shared/bench), TANDEM_TF_PYTHON an interpreter with TensorFlow.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release cluster_steps bench_native tandem_command >/dev/null
echo "== steps of a small cluster, in one process"
build/release/bin/cluster_steps
harness=$(realpath -m "${TANDEM_BENCH_HARNESS:-../shared/bench}")
if [ ! -x "$harness/run.py" ]; then
  echo "no comparison with TensorFlow: there is no run.py in $harness (set TANDEM_BENCH_HARNESS)"
  exit 0
fi
python=${TANDEM_TF_PYTHON:-$PWD/build/venv/bin/python}
[ -x "$python" ] || { echo "no comparison with TensorFlow: $python is missing; make interop installs it, or set TANDEM_TF_PYTHON" >&2; exit 1; }
bin=$PWD/build/release/bin
servers="$bin/tandem server --job_name={job} --task_index={index} --ps_hosts={ps_hosts} --worker_hosts={worker_hosts}"
out=build/bench
mkdir -p "$out"
for work in "linreg --variables=2,50 --workers=2 --client=in-worker" "mlp --goal=rate" startup memory; do
  name=${work%% *}
  echo "== $name: TensorFlow default, tuned, its client on our servers, our program"
  # shellcheck disable=SC2086  # a work load and its parameters are words
  "$python" "$harness/run.py" $work --python "$python" --native "$bin/bench_native" --server-command "$servers" --repetitions "${REPETITIONS:-3}" \
    --seconds "${SECONDS_EACH:-3}" >"$out/$name.jsonl" || echo "$name: some measurement failed, see $out/$name.jsonl"
done
"$python" "$harness/table.py" "$out"/*.jsonl 2>/dev/null || echo "rows are in $out"
