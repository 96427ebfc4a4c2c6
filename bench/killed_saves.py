#!/usr/bin/env python3
"""Kills a program that saves checkpoints, again and again, and looks for what was lost.

    python bench/killed_saves.py [KILLS] [MIB] [FOLDER]

The program trains (it adds one to every weight) and saves with a ``CheckpointManager`` that keeps
one checkpoint; it says when a save has returned. It is killed (SIGKILL) at a moment drawn from the
time that two saves take. What is there then must load, all weights equal, and be no older than the
last save that returned. The exit status is 1 where anything was lost.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

VARIABLES = 16

PROGRAM = """
import sys, tidemark as tf
elements = int(sys.argv[2])
weights = [tf.Variable(tf.zeros([elements])) for _ in range(int(sys.argv[3]))]
manager = tf.train.CheckpointManager(tf.train.Checkpoint(w=weights), sys.argv[1], max_to_keep=1)
manager.restore_or_initialize()
while True:
    for weight in weights:
        weight.assign_add(tf.ones_like(weight))
    manager.save()
    print(int(weights[0][0]), flush=True)
"""


def run_and_kill(folder, elements, wait):
    """The last step whose save returned before the kill, and how long the saves took."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, folder, str(elements), str(VARIABLES)],
        stdout=subprocess.PIPE,
        text=True,
    )
    done, times = [], []

    def listen():
        for line in process.stdout:
            done.append(int(line))
            times.append(time.monotonic())

    listener = threading.Thread(target=listen)
    listener.start()
    while not done and process.poll() is None:
        time.sleep(0.001)
    time.sleep(wait)
    process.kill()
    process.wait()
    listener.join()
    return done[-1], [b - a for a, b in zip(times, times[1:], strict=False)]


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    mib = int(sys.argv[2]) if len(sys.argv) > 2 else 128
    folder = tempfile.mkdtemp(dir=sys.argv[3] if len(sys.argv) > 3 else None)
    elements = mib * 2**20 // 4 // VARIABLES
    draw, lost, span, partial = random.Random(7), 0, 1.0, 0
    import tidemark as tf

    weights = [tf.Variable(tf.zeros([elements])) for _ in range(VARIABLES)]
    try:
        for number in range(kills):
            said, times = run_and_kill(folder, elements, draw.uniform(0, span))
            if times:
                span = 2 * min(times)
            partial += any(
                ".writing-" in name or "-of-00002" in name for name in os.listdir(folder)
            )
            latest = tf.train.latest_checkpoint(folder)
            try:
                tf.train.Checkpoint(w=weights).restore(latest).assert_consumed()
                found = {
                    float(end) for w in weights for end in (tf.reduce_min(w), tf.reduce_max(w))
                }
                whole = len(found) == 1 and min(found) >= said
            except Exception as error:
                found, whole = error, False
            if not whole:
                lost += 1
                print(f"kill {number}: the save of {said} returned; there is {found}")
    finally:
        shutil.rmtree(folder)
    print(f"{kills} kills of {mib} MiB: {lost} lost; {partial} fell into a save")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
