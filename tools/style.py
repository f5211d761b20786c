#!/usr/bin/env python3
"""Small checks of taste: headers guarded once, files of a readable length, no leftovers, no generated or large files in git."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 700
MAX_BYTES = 2 << 20
LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
GENERATED = re.compile(r"(^|/)(build|\.venv|__pycache__)/|\.(o|so|a|pyc)$")
SLEEP = re.compile(r"\b(sleep_for|SleepFor|usleep)\s*\(")


def problems():
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in files:
        path = ROOT / name
        if not path.exists():
            continue
        if GENERATED.search(name):
            yield f"{name}: a generated file in git"
        if path.stat().st_size > MAX_BYTES:
            yield f"{name}: larger than 2 MB"
        if not name.endswith((".h", ".cc", ".py", ".sh")) or name == "tools/style.py":
            continue
        lines = path.read_text().splitlines()
        if len(lines) > MAX_LINES:
            yield f"{name}: {len(lines)} lines; more than {MAX_LINES} tell more than one story"
        if name.endswith(".h") and "#pragma once" not in lines:
            yield f"{name}: no #pragma once"
        for number, line in enumerate(lines, 1):
            if LEFTOVER.search(line):
                yield f"{name}:{number}: {LEFTOVER.search(line).group(0)} left behind"
            if name.endswith("_test.cc") and SLEEP.search(line):
                yield f"{name}:{number}: a test that sleeps"
            if line != line.rstrip():
                yield f"{name}:{number}: blanks at the end of the line"


if __name__ == "__main__":
    found = list(problems())
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)
