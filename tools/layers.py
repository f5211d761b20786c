#!/usr/bin/env python3
"""Enforces the include arrow: a file may include its own folder and folders with a smaller number (docs/architecture.md).

Folders with the same number do not see each other. Public headers belong to the layer that implements them.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LAYERS = {
    "core": 0, "tensor": 1, "kernel": 2, "checkpoint": 2, "summary": 2, "embedding": 2, "graph": 3, "runtime": 4, "ops": 4,
    "cluster": 5, "client": 6, "train": 7, "cli": 8,
}
# Public headers that lower layers implement; all others belong to client (6) or train (7).
PUBLIC = {"error.h": 0, "dtype.h": 1, "shape.h": 1, "tensor.h": 1, "graph.h": 3}
TRAIN_HEADERS = {"tandem.h", "cluster_config.h", "server.h", "optimizer.h", "saver.h", "supervisor.h", "monitored_session.h", "coordinator.h", "summary.h", "device_setter.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def place(path):
    """(folder, layer) of a file of src/ or include/, by its path from there."""
    parts = path.split("/")
    if parts[0] == "tandem":
        name = parts[-1]
        return "tandem", PUBLIC.get(name, 7 if name in TRAIN_HEADERS else 6)
    if parts[0] in LAYERS:
        folder = "/".join(parts[:2]) if parts[0] == "ops" and len(parts) > 2 else parts[0]
        return folder, LAYERS[parts[0]]
    return None, None


def problems():
    files = subprocess.run(["git", "ls-files", "src", "include"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in files:
        if not name.endswith((".h", ".cc")):
            continue
        inside = name.split("/", 1)[1]
        folder, layer = place(inside)
        if folder is None:
            yield f"{name}: the folder {inside.split('/')[0]} has no layer in tools/layers.py"
            continue
        if name.endswith("_test.cc"):
            continue   # a test may use whatever helps
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            other, other_layer = place(match.group(1))
            if other is None or other == folder:
                continue
            if folder == "tandem" or other == "tandem":
                allowed = other_layer <= layer
            else:
                allowed = other_layer < layer
            if not allowed:
                yield f"{name}:{number}: {folder} ({layer}) must not include {match.group(1)} ({other}, {other_layer})"


if __name__ == "__main__":
    found = list(problems())
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)
