#!/usr/bin/env bash
# Checks that need no test: the include arrow, headers that compile alone, formatting, sizes.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "== include arrow"
python3 tools/layers.py
echo "== style"
python3 tools/style.py
echo "== headers compile alone"
tools/build.sh release header_checks
