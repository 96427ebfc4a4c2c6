"""Training steps as one function, once they are warm: calls into the system's allocator."""

import os
import subprocess
import sys
from pathlib import Path

from case import Case, InPython, Options, Row

NAMES = ("mlp", "cnn", "gpt_small")
STEPS = 10_000
BENCH = Path(__file__).resolve().parents[1]

# Runs in a process that the counting library was loaded into first.
SOURCE = """
import ctypes, gc, sys
import tidemark as tf
from models import compiled_step
from timing import resident_bytes

name, warm, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
step = compiled_step(tf, name)

def run(times):
    for _ in range(times):
        step()

run(warm)
gc.collect()
count = ctypes.CDLL(None).count_allocations
count(0)  # loads what ctypes needs
samples = [resident_bytes()]
calls = 0
for _ in range(10):
    before = count(1)
    run(steps // 10)
    calls += count(0) - before
    samples.append(resident_bytes())
print(calls, max(samples) - samples[0])
"""


def counter():
    """The newest build of tests/support/count_allocations.cpp."""
    found = list(BENCH.parent.glob("build*/**/libcount_allocations.so"))
    if not found:
        raise RuntimeError("libcount_allocations.so is not built (target count_allocations)")
    return max(found, key=lambda path: path.stat().st_mtime)


def counted(name, warm, steps):
    """(calls into the system's allocator, bytes the process grew) over ``steps`` steps."""
    environment = os.environ | {"LD_PRELOAD": str(counter()), "PYTHONPATH": str(BENCH)}
    command = [sys.executable, "-c", SOURCE, name, str(warm), str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    calls, grown = done.stdout.split()
    return int(calls), int(grown)


def tidemark(name):
    def run(options: Options):
        calls, grown = counted(name, 500, options.pick(STEPS, STEPS // 50))
        return {"calls": calls, "grown_kib": grown / 1024}

    return run


CASE = Case(
    about="10,000 steps of compiled training: calls into the system's allocator, growth",
    subjects=[InPython(f"{name}", tidemark(name), environment="tidemark") for name in NAMES],
    rows=[
        row
        for name in NAMES
        for row in (
            Row(f"{name}, allocator calls", f"{name}.calls", at_most=0),
            Row(f"{name}, growth", f"{name}.grown_kib", at_most=256, unit="KiB"),
        )
    ],
    rounds=1,
    worst_of=frozenset(f"{name}.{what}" for name in NAMES for what in ("calls", "grown_kib")),
)
