#!/usr/bin/env bash
# Tests with real TensorFlow, in a virtual environment of their own. Arguments go to unittest: test_classic.Classic …
# TANDEM_TF_PYTHON names an interpreter that has TensorFlow already.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${TANDEM_TF_PYTHON:-}
if [ -z "$python" ]; then
  venv=$PWD/build/venv
  python=$venv/bin/python
  if ! "$python" -c 'import tensorflow' >/dev/null 2>&1; then
    echo "Installing $(tr '\n' ' ' <tests/interop/requirements.txt)into $venv"
    python3 -m venv "$venv"
    "$python" -m pip install -q -r tests/interop/requirements.txt
  fi
fi
export TANDEM_BIN=${TANDEM_BIN:-$PWD/build/release/bin} TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= PYTHONPATH=$PWD/tests
cd tests/interop
if [ $# -gt 0 ]; then exec "$python" -m unittest -v "$@"; fi
exec "$python" -m unittest discover -v -p 'test_*.py'
