#!/usr/bin/env bash
# tools/sanitize.sh asan|tsan: builds the tests with a sanitizer and runs them.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh "$1" tests
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tools/lsan.supp TSAN_OPTIONS=suppressions=$PWD/tools/tsan.supp:halt_on_error=1
exec ctest --test-dir "build/$1" --output-on-failure -j 2
