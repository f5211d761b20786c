#!/usr/bin/env bash
# Installs into a fresh folder and builds and runs a program that knows only that folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cmake --install build/release --prefix "$root/tandem" >/dev/null
cmake -S tests/install -B "$root/build" -G Ninja -DCMAKE_PREFIX_PATH="$root/tandem" >/dev/null
cmake --build "$root/build"
LD_LIBRARY_PATH="$root/tandem/lib:$root/tandem/lib/$(uname -m)-linux-gnu" "$root/build/program"
