"""Branches and loops run inside the arena of the function around them."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from environments import needs_plans

import tidemark as tf

SIDE = 128
ONE = SIDE * SIDE * 4
ROOT = Path(__file__).resolve().parents[2]


def measured(call):
    gc.collect()
    tf.memory.reset_peak()
    before = tf.memory.stats().tensor_bytes
    result = call()
    return tf.memory.stats().tensor_peak - before, result


def run_alone(source, *arguments, **environment):
    """The numbers that a program prints in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)} | environment
    done = subprocess.run([sys.executable, "-c", source, *arguments], capture_output=True,
                          text=True, env=environment, timeout=120)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


def branchy(x, which):
    h = tf.matmul(x, x) * 0.1
    if which > 0:
        h = tf.tanh(tf.matmul(h, x))
        h = tf.tanh(tf.matmul(h, tf.matmul(x, x)))
    else:
        h = tf.exp(-tf.square(h))
    return tf.reduce_sum(h, axis=0)


def loopy(x, times):
    i, h = tf.constant(0), x * 1.0
    while i < times:
        h = tf.tanh(tf.matmul(tf.tanh(tf.matmul(h, x)), x))
        i += 1
    return tf.reduce_sum(h, axis=0)


def nested(x, times):
    i, h = tf.constant(0), x * 1.0
    while i < times:
        if i % 2 == 0:
            h = tf.tanh(tf.matmul(tf.sin(tf.matmul(h, x)), x))
        else:
            j = tf.constant(0)
            while j < 2:
                h = tf.tanh(tf.matmul(tf.cos(h), x) + tf.matmul(h, x))
                j += 1
        i += 1
    return tf.reduce_sum(h, axis=0)


def arguments():
    x = tf.random.stateless_normal([SIDE, SIDE], [1, 2]) * 0.1
    return [(x, tf.constant(n)) for n in (-1, 0, 1, 3)]


@pytest.mark.parametrize("code", [branchy, loopy, nested])
def test_results_are_those_of_eager_code(code):
    compiled = tf.function(code)
    for _ in range(3):
        for x, n in arguments():
            np.testing.assert_allclose(compiled(x, n), code(x, n), rtol=1e-4, atol=1e-4)


@needs_plans
def test_a_conditional_lies_in_the_arena_of_its_caller():
    f = tf.function(branchy)
    x, one, minus = arguments()[0][0], tf.constant(1), tf.constant(-1)
    plan = f.plan(x, one)
    inside = [b for b in plan.buffers if b.op == "inside cond"]
    assert [b.place for b in inside] == ["arena"]
    assert inside[0].bytes + inside[0].offset <= plan.arena
    f(x, one), f(x, minus)
    for which in (one, minus) * 3:  # the larger branch is reserved, whichever runs
        assert measured(lambda which=which: f(x, which))[0] == plan.peak


ARENAS = """
import sys
import tidemark as tf
import test_inner_plans as tests

f = tf.function(getattr(tests, sys.argv[1]))
for _ in range(3):
    for x, n in tests.arguments():
        f(x, n)
print(tf.memory.stats().planned, f.plan(x, n).arena)
"""


@needs_plans
@pytest.mark.parametrize("code", [branchy, loopy, nested])
def test_one_arena_serves_a_call(code):
    waiting, planned = run_alone(ARENAS, code.__name__)
    assert planned <= waiting < planned + 2 * 4096  # a header, and whole pages


@needs_plans
def test_another_function_called_from_python_code_has_an_arena_of_its_own():
    other = tf.function(lambda x: tf.matmul(tf.tanh(tf.matmul(x, x)), x))
    x = arguments()[0][0]
    want = tf.exp(-other(x) * 2.0)

    def inside(v):
        out = tf.numpy_function(lambda a: other(tf.constant(a)).numpy(), [v], tf.float32)
        return tf.ensure_shape(out, [SIDE, SIDE])

    @tf.function
    def f(x, which):
        h = x * 1.0
        if which:
            h = tf.exp(-2.0 * inside(tf.matmul(h, tf.eye(SIDE))))
        return h + 0.0

    for _ in range(3):
        np.testing.assert_allclose(f(x, tf.constant(True)), want, rtol=1e-4, atol=1e-5)


@needs_plans
def test_a_failed_branch_leaves_the_arena_usable():
    @tf.function
    def f(x, ok):
        h = tf.matmul(x, x)
        if tf.reduce_sum(x) > -1e9:
            with tf.control_dependencies([tf.debugging.assert_equal(ok, True)]):
                h = tf.tanh(tf.matmul(tf.tanh(tf.matmul(h, x)), h))
        return h * 2.0

    x = arguments()[0][0]
    want = f(x, tf.constant(True)).numpy()
    for _ in range(5):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(x, tf.constant(False))
        np.testing.assert_array_equal(f(x, tf.constant(True)), want)


COUNTED = """
import ctypes, gc
import tidemark as tf
from test_inner_plans import branchy, loopy, nested, arguments

count = ctypes.CDLL(None).count_allocations

def counted(f, x, n):
    for _ in range(600):  # Python looks at some calls: the 512th, the 1024th
        f(x, n)
    before = count(1)
    for _ in range(300):
        f(x, n)
    return count(0) - before

x = arguments()[0][0]
counted(tf.function(branchy), x, tf.constant(1))  # whatever the first look at a number takes
for code in (branchy, loopy, nested):
    f = tf.function(code)
    gc.collect()
    print(counted(f, x, tf.constant(1)) + counted(f, x, tf.constant(3)))
"""


@needs_plans
def test_warm_calls_never_ask_the_systems_allocator():
    found = list(ROOT.glob("build*/**/libcount_allocations.so"))
    if not found:
        pytest.skip("the counting library is not built, as under sanitizers")
    newest = max(found, key=lambda path: path.stat().st_mtime)
    # In the hostile run nothing is kept for the next request.
    kept = run_alone(COUNTED, LD_PRELOAD=str(newest), TIDEMARK_RETAINED_LIMIT="64MiB")
    assert kept == [0, 0, 0]
