"""Cheap values are computed twice instead of kept, by default: the peak falls, results stay."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import this_device

import tidemark as tf

# These compare plans with each other: of those for the lowest peak nothing is left to compare.
pytestmark = pytest.mark.skipif(
    bool(os.environ.get("TIDEMARK_PLAN_BUDGET")) or os.environ.get("TIDEMARK_PLAN") == "0",
    reason="looks at the plans that functions have by default",
)
LAYERS, ROWS, WIDTH = 6, 512, 256


def network(activation=tf.nn.gelu):
    weights = [
        tf.Variable(tf.random.stateless_normal((WIDTH, WIDTH), (0, i)) * WIDTH**-0.5)
        for i in range(LAYERS)
    ]

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = activation(tf.matmul(h, w))
            loss = tf.reduce_sum(tf.square(h))
        gradients = tape.gradient(loss, weights)
        for w, g in zip(weights, gradients, strict=True):
            w.assign_sub(1e-3 * g)
        return loss

    return step, weights


def data():
    return tf.random.stateless_normal((ROWS, WIDTH), (1, 1))


@pytest.fixture
def without(monkeypatch):
    """Runs something with every value computed once."""

    def run(work):
        with monkeypatch.context() as patch:
            patch.setenv("TIDEMARK_PLAN_REPEAT", "0")
            return work()

    return run


@pytest.mark.parametrize("activation", [tf.nn.gelu, tf.nn.silu, tf.nn.softplus, tf.nn.elu])
def test_the_peak_falls_and_the_plan_says_why(activation, without, monkeypatch):
    monkeypatch.setenv("TIDEMARK_PLAN_REPEAT", "10")
    step, _ = network(activation)
    plan, kept = step.plan(data()), without(lambda: step.plan(data()))
    assert not kept.repeats and kept.repeat_time == 0
    if not plan.repeats:  # its slope is had from its result: nothing is kept twice
        assert activation in (tf.nn.elu,) and plan.peak == kept.peak
        return
    assert plan.peak < 0.8 * kept.peak
    assert 0 < plan.repeat_time <= 0.1
    assert all(r.bytes == ROWS * WIDTH * 4 for r in plan.repeats)
    assert all("needed again by matmul" in r.why for r in plan.repeats)
    assert all("test_cheap_repeats.py" in r.line for r in plan.repeats)
    text = str(plan)
    assert "computed twice" in text and max(map(len, text.splitlines())) <= 80
    assert plan.to_dict()["repeats"][0]["op"] == plan.repeats[0].op


def test_results_have_the_same_bits(without):
    def train():
        step, weights = network()
        losses = [float(step(data())) for _ in range(3)]
        return losses, [np.asarray(w) for w in weights]

    losses, weights = train()
    wanted_losses, wanted = without(train)
    assert losses == wanted_losses
    for made, w in zip(weights, wanted, strict=True):
        np.testing.assert_array_equal(made, w)


def test_measured_is_planned():
    step, _ = network()
    x = data()
    plan = step.plan(x)
    assert plan.repeats
    step(x)
    assert this_device.taken_by(step, x) == plan.peak


def test_draws_are_never_repeated(without):
    """Dropout draws once a layer and step, whatever is computed again."""

    def losses():
        tf.random.set_seed(7)
        step, _ = network(lambda t: tf.nn.dropout(tf.nn.gelu(t), 0.5))
        return [float(step(data())) for _ in range(3)]

    assert losses() == without(losses)


def test_variables_that_change_between_are_read_as_they_were(without):
    """A value that depends on a variable is not computed again once the variable has changed."""

    def train():
        scale = tf.Variable(tf.fill((WIDTH,), 2.0))
        w = tf.Variable(tf.random.stateless_normal((WIDTH, WIDTH), (3, 3)) * WIDTH**-0.5)

        @tf.function
        def step(x):
            kept, h = [], x
            for _ in range(4):
                h = tf.nn.gelu(h) * scale
                kept.append(h)
                h = tf.matmul(h, w)
            scale.assign(scale * 3.0)
            total = tf.reduce_sum(h)
            for k in reversed(kept):
                total += tf.reduce_sum(tf.matmul(k, tf.cast(total, tf.float32) * 1e-9 + w))
            return total

        return [float(step(data())) for _ in range(2)]

    np.testing.assert_allclose(train(), without(train), rtol=1e-6)


def test_a_setting_that_makes_no_sense(monkeypatch):
    monkeypatch.setenv("TIDEMARK_PLAN_REPEAT", "much")
    step, _ = network()
    with pytest.raises(tf.errors.InvalidArgumentError, match="TIDEMARK_PLAN_REPEAT"):
        step.plan(data())


def test_many_steps_take_no_more_memory():
    step, _ = network()
    x = data()
    for _ in range(20):
        step(x)
    before = tf.memory.stats().live
    for _ in range(2000):
        step(x)
    assert tf.memory.stats().live <= before + 4096


def peaks(model, repeat):
    """Of a model of the benchmarks, in a process of its own."""
    code = f"import planned_graphs as g; p = g.plan_of({model!r}); print(p.peak, len(p.repeats))"
    bench = Path(__file__).parents[2] / "bench"
    environment = {**os.environ, "TIDEMARK_PLAN_REPEAT": repeat}
    out = subprocess.run(
        [sys.executable, "-c", code],
        cwd=bench,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(word) for word in out.stdout.split()]


@pytest.mark.skipif(
    os.environ.get("TIDEMARK_FUSION") in ("off", "interpret"), reason="peaks of compiled functions"
)
def test_the_transformer_of_the_benchmarks_takes_two_thirds():
    peak, repeats = peaks("gpt", "2")
    kept, none = peaks("gpt", "0")
    assert none == 0 and repeats >= 12
    assert peak < 0.7 * kept
