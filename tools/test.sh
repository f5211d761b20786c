#!/usr/bin/env bash
# Everything that must pass: unit tests, golden tests, clusters, the installed library, real TensorFlow.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "== build"
tools/build.sh release all tests
echo "== unit, golden and cluster tests"
ctest --test-dir build/release --output-on-failure -j 2
echo "== a program against the installed library"
tests/install/run.sh
echo "== bad input and faults"
tests/fault/run.sh
echo "== real TensorFlow"
tests/interop/run.sh
echo "all tests passed"
