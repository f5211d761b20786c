#!/usr/bin/env bash
# Bad input and faults, on real processes: exit codes, messages, time limits. Arguments go to unittest: test_recovery.Recovery …
# TANDEM_BIN names the folder of the programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
export TANDEM_BIN=${TANDEM_BIN:-$PWD/build/release/bin} PYTHONPATH=$PWD/tests PYTHONDONTWRITEBYTECODE=1
unset TF_CONFIG
cd tests/fault
if [ $# -gt 0 ]; then exec python3 -m unittest -v "$@"; fi

# Most of the time is waiting: all files at once, but each file's tests one after the other.
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
declare -A running
for file in test_*.py; do
  python3 -m unittest -v "${file%.py}" >"$logs/$file" 2>&1 &
  running[$file]=$!
done
result=0
for file in test_*.py; do
  wait "${running[$file]}" || result=1
  cat "$logs/$file"
done
exit $result
