"""Compiled steps once they are warm: no call into the system's allocator, and planned memory."""

import gc
import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from environments import needs_plans

import tidemark as tf

BENCH = Path(__file__).resolve().parents[2] / "bench"


def bench_module(name):
    if str(BENCH) not in sys.path:
        sys.path.append(str(BENCH))
    spec = importlib.util.spec_from_file_location(f"bench_{name.replace('/', '_')}",
                                                  BENCH / f"{name}.py")  # fmt: skip
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


models = bench_module("models")


def measured(call):
    """Tensor bytes that a call adds at its peak, by the ledger, and what it gives."""
    gc.collect()
    tf.memory.reset_peak()
    before = tf.memory.stats().tensor_bytes
    result = call()
    return tf.memory.stats().tensor_peak - before, result


@needs_plans
@pytest.mark.skipif(
    os.environ.get("TIDEMARK_FUSION") == "off", reason="updates one by one make values of their own"
)
@pytest.mark.parametrize("name", ["mlp", "gpt_small"])
def test_warm_steps_never_call_the_systems_allocator(name):
    if not list(BENCH.parent.glob("build*/**/libcount_allocations.so")):
        pytest.skip("the counting library is not built, as under sanitizers")
    steady = bench_module("cases/steady_steps")
    calls, grown = steady.counted(name, warm=300, steps=1000)
    assert calls == 0
    assert grown <= 256 * 1024  # pages touched for the first time, as in flat.py


@pytest.fixture
def room():
    """Models larger than the hostile run's limit fit."""
    before = tf.memory.stats().limit
    tf.memory.set_limit("1GiB")
    yield
    tf.memory.set_limit(before)


@needs_plans
@pytest.mark.parametrize("name", ["mlp", "cnn", "gpt", "gpt_small"])
def test_measured_peak_is_the_planned_one_to_the_byte(name, room):
    step = models.compiled_step(tf, name)
    plan = step.plan()
    step()  # makes what the function keeps: constants
    for _ in range(3):
        used, _ = measured(step)
        assert used == plan.peak


def test_a_conditional_reserves_its_larger_branch():
    @tf.function
    def choose(x, which):
        h = tf.matmul(x, x)
        if which > 0:
            y = tf.exp(tf.matmul(tf.tanh(tf.matmul(h, h)), h))
        else:
            y = tf.tanh(tf.matmul(h, h))
        return tf.reduce_sum(y)

    x = tf.random.normal((128, 128))
    large, small = tf.constant(1), tf.constant(-1)
    plan = choose.plan(x, large)
    one = 128 * 128 * 4
    assert plan.inner == one  # of the larger branch alone
    choose(x, large)
    for _ in range(3):
        assert measured(lambda: choose(x, large))[0] == plan.peak
        assert measured(lambda: choose(x, small))[0] == plan.peak  # one arena for both


def test_a_loop_reserves_one_round_of_its_body():
    @tf.function
    def repeat(x, times):
        i, h = tf.constant(0), x * 1.0
        while i < times:
            h = tf.matmul(tf.tanh(tf.matmul(h, x)), x)
            i += 1
        return tf.reduce_sum(h)

    x = tf.random.normal((128, 128))
    one = 128 * 128 * 4
    plan = repeat.plan(x, tf.constant(3))
    assert 2 * one <= plan.peak <= 3 * one + 64
    repeat(x, tf.constant(1))
    for times in (1, 2, 50):
        count = tf.constant(times)
        used = measured(lambda n=count: repeat(x, n))[0]
        assert used <= plan.peak
        assert plan.peak - used <= one + 64  # what a round may write in place


@needs_plans
def test_results_are_written_into_former_ones():
    @tf.function
    def scaled(x, by):
        return tf.tanh(tf.matmul(x, x)) * by

    x, by = tf.random.normal((64, 64)), tf.constant(2.0)
    expected = scaled(x, by).numpy()
    y = scaled(x, by)
    assert scaled.call_into(y, x, by) is y
    before = tf.memory.stats().allocations
    for _ in range(100):
        scaled.call_into(y, x, by)
    assert tf.memory.stats().allocations == before
    np.testing.assert_array_equal(y.numpy(), expected)
    view = y.numpy()  # somebody looks at it: it stays as it is
    scaled.call_into(y, x, tf.constant(3.0))
    np.testing.assert_array_equal(view, expected)
    np.testing.assert_allclose(y.numpy(), expected * 1.5, rtol=1e-6)
    scaled.call_into(y, y, by)  # an argument that is the former result, too
    np.testing.assert_allclose(y.numpy(), np.tanh(expected * 1.5 @ (expected * 1.5)) * 2, atol=1e-3)
    larger = tf.ones((96, 96))  # traced anew, for any size
    scaled.call_into(y, larger, by)
    assert y.shape == (96, 96) and float(y[0, 0]) == 2.0


def test_results_of_many_are_written_into_former_ones():
    @tf.function
    def parts(x):
        tf.debugging.assert_greater(tf.reduce_sum(x), 0.0)
        return x + x, x * x

    x = tf.ones((8,))
    both = parts(x)
    for _ in range(3):
        assert parts.call_into(both, 3.0 * x) is both
    assert both[0].numpy().tolist() == [6.0] * 8 and both[1].numpy().tolist() == [9.0] * 8
    for wrong in (3, [x], [x, "no"], both[0]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="call_into"):
            parts.call_into(wrong, x)
    live = tf.memory.stats().live
    for _ in range(50):
        with pytest.raises(tf.errors.InvalidArgumentError):
            parts.call_into(both, -x)
        both = parts.call_into(both, x)
    assert tf.memory.stats().live <= live + 4096
    assert both[1].numpy().tolist() == [1.0] * 8


@needs_plans
def test_an_arena_that_is_larger_than_needed_counts_what_is_needed():
    @tf.function
    def products(x):
        return tf.reduce_sum(tf.matmul(tf.tanh(tf.matmul(x, x)), x))

    large, small = tf.random.normal((512, 512)), tf.random.normal((64, 64))
    for _ in range(3):
        products(large), products(small)
    assert measured(lambda: products(large))[0] == products.plan(large).peak
    assert measured(lambda: products(small))[0] == products.plan(small).peak
