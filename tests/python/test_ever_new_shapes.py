"""Ops that a library computes, over ever new shapes: nothing is left behind."""

import itertools
import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

# In a process of its own: what is retained may grow with the highest memory the process ever had.
PROGRAM = """
import json, sys
from flat import resident_bytes
import tidemark as tf
from tidemark._tidemark import call

sides = [(20 + i * 7 % 45, 20 + i // 45 * 13 % 45) for i in range(2000)]  # no two alike
filters = tf.random.normal([3, 3, 16, 16])

def convolution(height, width):
    tf.nn.conv2d(tf.ones([1, height, width, 16]), filters, 1, "SAME")

def gradients(height, width):
    images = tf.ones([1, height, width, 16])
    with tf.GradientTape() as tape:
        tape.watch([images, filters])
        y = tf.nn.conv2d(images, filters, 1, "SAME")
    tape.gradient(y, [images, filters])

def product(height, width):
    tf.matmul(tf.ones([2 * height, width]), tf.ones([width, height + width]))

def library_product(height, width):  # the library multiplies bfloat16, we float32
    left, right = tf.ones([2 * height, width]), tf.ones([width, height + width])
    tf.matmul(tf.cast(left, tf.bfloat16), tf.cast(right, tf.bfloat16))

def attention(height, width):
    query, key = tf.ones([1, 2, height, 16]), tf.ones([1, 2, width, 16])
    call("attention", (query, key, key, tf.constant(True)), {})

op = globals()[sys.argv[1]]
samples = []
op(64, 64)
for i, (height, width) in enumerate(sides):
    op(height, width)
    if i >= int(sys.argv[2]) and i % 25 == 0:
        samples.append(resident_bytes() / 2**20)
print(json.dumps([samples, tf.memory.report()]))
"""


def usual_rise(samples):
    """By how much they rise from one to the next: the median over all pairs, which a heap that once
    gave pages back, and filled them again, does not move."""
    pairs = itertools.combinations(enumerate(samples), 2)
    return statistics.median((after - before) / (j - i) for (i, before), (j, after) in pairs)


def test_the_usual_rise_is_told():
    assert usual_rise([0, 2, 4, 6, 8]) == 2
    assert usual_rise([5, 5, 1, 5, 5, 5]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "cache", "warm_up"),
    [
        ("convolution", "convolution primitives", 50),
        ("gradients", "convolution primitives", 50),
        ("product", "", 50),
        ("library_product", "matmul primitives", 700),  # its heap takes long to settle
        ("attention", "", 50),
    ],
)
def test_resident_memory_is_flat_over_2000_shapes(op, cache, warm_up):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, op, str(warm_up)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    samples, report = json.loads(run.stdout)
    # Primitives of different shapes differ in size by tens of KiB, and a few are alive at a time.
    assert max(samples) - min(samples) < 1, samples
    assert usual_rise(samples[len(samples) // 4 :]) * len(samples) < 0.25, samples
    assert cache in report
