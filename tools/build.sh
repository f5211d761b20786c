#!/usr/bin/env bash
# tools/build.sh release|asan|tsan TARGET...: configures once, then builds.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
[ -f "build/$preset/build.ninja" ] || { echo "Configuring build/$preset"; cmake --preset "$preset" >"build-$preset.log" 2>&1 || { cat "build-$preset.log"; exit 1; }; rm -f "build-$preset.log"; }
exec cmake --build "build/$preset" -j "${JOBS:-$(nproc)}" --target "$@"
