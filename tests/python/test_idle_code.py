"""Code that only compiling needs leaves resident memory, unless it is told to stay."""

import os
import subprocess
import sys

import pytest

MIB = 1 << 20
# Prints how much of the library's code is resident before and after a function is compiled.
SOURCE = """
import tidemark as tf

def resident_code():
    total, is_code = 0, False
    with open("/proc/self/smaps") as lines:
        for line in lines:
            if "-" in line.split(" ", 1)[0]:
                is_code = " r-xp " in line and line.rstrip().endswith("libtidemark.so")
            elif is_code and line.startswith("Rss:"):
                total += int(line.split()[1]) * 1024
    return total

before = resident_code()
step = tf.function(lambda x: tf.reduce_sum(tf.tanh(x @ x) * 2.0 + tf.nn.softmax(x)))
step(tf.ones([32, 32]))
print(before, resident_code())
"""


def run(**variables):
    return subprocess.run(
        [sys.executable, "-c", SOURCE],
        capture_output=True,
        text=True,
        env=os.environ | variables,
        check=False,
    )


def code_after_compiling(**variables):
    done = run(**variables)
    assert done.returncode == 0, done.stderr
    return tuple(map(int, done.stdout.split()))


def test_code_that_compiled_leaves_resident_memory_or_stays():
    before, kept = code_after_compiling(TIDEMARK_IDLE_CODE="keep")
    assert kept > before + MIB  # compiling needs that much
    _, left = code_after_compiling(TIDEMARK_IDLE_CODE="unmap")
    assert left < kept - MIB
    assert code_after_compiling()[1] < kept - MIB


@pytest.mark.parametrize("value", ["drop", "1"])
def test_other_values_are_refused(value):
    done = run(TIDEMARK_IDLE_CODE=value)
    assert done.returncode == 1
    assert f'TIDEMARK_IDLE_CODE="{value}": expected unmap or keep' in done.stderr
