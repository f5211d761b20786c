#!/usr/bin/env bash
# Builds the program that README.md shows, word for word but for the rest of its loop, and trains with it.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "${1:-build/release}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
loop='const float xs = 1, ys = 2; if (session.Run({step})[0].scalar<int64_t>() >= 100) sv.RequestStop();'
sed -n '/^```cpp$/,/^```$/p' README.md | sed "/^\`\`\`/d; s#/\* … \*/#$loop#" > "$work/program.cc"
grep -q RequestStop "$work/program.cc"
c++ -std=c++20 -Wall -Wextra -Werror -Iinclude -I"$build/gen/public" "$work/program.cc" -o "$work/program" -L"$build/lib" -ltandem \
  -labsl_status -labsl_statusor -labsl_strings -Wl,-rpath,"$build/lib"
cd "$work"
./program
test -f log/linear/checkpoint
ls log/linear/events.out.tfevents.*
