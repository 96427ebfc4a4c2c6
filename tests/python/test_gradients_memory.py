"""What gradients keep and when they let go of it."""

import gc

import numpy as np
import pytest
from flat import assert_flat

import tidemark as tf

pytestmark = pytest.mark.unwatched


def live():
    return tf.memory.stats().live


def test_training_is_flat():
    rng = np.random.default_rng(0)
    weights = [tf.Variable(rng.normal(size=(32, 32)).astype(np.float32)) for _ in range(3)]
    x = tf.constant(rng.normal(size=(16, 32)).astype(np.float32))

    def step():
        with tf.GradientTape() as tape:
            y = x
            for w in weights:
                y = tf.tanh(y @ w)
            loss = tf.reduce_mean(y * y)
        for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(0.01 * g)
        return float(loss)

    first = step()
    gc.collect()
    seen = []
    gc.disable()  # nothing may wait for the collector
    try:
        for i in range(3000):
            last = step()
            if i % 100 == 0:
                seen.append(live())
    finally:
        gc.enable()
    assert len(set(seen)) == 1
    assert last < first


def test_persistent_tapes_let_go_when_dropped():
    v = tf.Variable(tf.ones([1000]))
    before = live()
    for _ in range(50):
        with tf.GradientTape(persistent=True) as tape:
            y = tf.tanh(v) * v
        tape.gradient(y, v)
        tape.gradient(y, v)
    assert tape._kept_bytes > 0
    del tape, y
    assert live() == before


def test_backward_lets_go_on_its_way():
    layers = 20
    x = tf.ones([64, 1024])
    layer = x._nbytes
    before = live()
    falling = []
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(layers):
            y = tf.tanh(y)

            @tf.custom_gradient
            def probe(t):
                def grad(dy):
                    falling.append(live() - before)
                    return dy

                return t, grad

            y = probe(y)
    forward = live() - before
    tf.memory.reset_peak()
    dx = tape.gradient(y, x)
    assert forward >= layers * layer
    assert tf.memory.stats().peak - before <= forward + 4 * layer
    assert all(b < a for a, b in zip(falling[1:], falling[2:], strict=False))
    assert falling[-1] < forward / 4
    del tape, y, dx
    assert live() == before


def test_tape_keeps_only_what_gradients_need():
    x = tf.ones([1000])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reshape(x + x - 1.0, [10, 100])
        assert tape._kept_bytes == 0
        y = tf.exp(y)
        assert 4000 <= tape._kept_bytes < 8000


def test_recompute_keeps_nothing_of_the_inside():
    w = tf.Variable(tf.ones([256, 256]) * 0.01)
    x = tf.ones([256, 256])

    def block(x):
        for _ in range(10):
            x = tf.tanh(x @ w)
        return x

    def kept(f):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(f(x))
        bytes_kept = tape._kept_bytes
        return bytes_kept, tape.gradient(y, w)

    plain, wanted = kept(block)
    lean, got = kept(tf.recompute_grad(block))
    assert lean < plain / 5
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5)


def test_failed_steps_leave_nothing():
    v = tf.Variable(tf.ones([1000]))
    before = live()
    for _ in range(20):
        try:
            with tf.GradientTape() as tape:
                y = v * v
                tf.reshape(y, [3])
        except tf.errors.InvalidArgumentError:
            pass
    del tape, y
    assert live() == before


def test_cycle_through_a_tape_is_collected():
    gc.collect()
    before = live()

    class Holder:
        pass

    def make_cycle():
        holder = Holder()
        x = tf.ones([1000])
        with tf.GradientTape(persistent=True) as holder.tape:
            holder.tape.watch(x)

            @tf.custom_gradient
            def f(t):
                return t * 2.0, lambda dy: dy if holder else None

            holder.y = f(x)
        assert holder.tape.gradient(holder.y, x).numpy()[0] == 1

    make_cycle()
    assert live() > before
    gc.collect()
    assert live() == before


def test_training_is_flat_in_resident_memory():
    v = tf.Variable(tf.ones([64, 64]))

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(v @ v) * v)
        v.assign_sub(1e-4 * tape.gradient(loss, v))

    assert_flat(step, 4000)
