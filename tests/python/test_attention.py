"""Scaled dot-product attention as one op against the formula in NumPy."""

import os

import numpy as np
import pytest
from arrays import assert_close, sample

import tidemark as tf


def attention(q, k, v, mask=None, causal=False, scale=None):
    q, k, v = (a.astype("float64") for a in (q, k, v))
    s = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    if causal:
        s = np.where(np.tri(*s.shape[-2:], dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [(1, 1), (5, 7), (130, 300), (300, 130)])
def test_attention(dtype, causal, lengths):
    q = sample(dtype, (2, 3, lengths[0], 20), 1)
    k = sample(dtype, (2, 3, lengths[1], 20), 2)
    v = sample(dtype, (2, 3, lengths[1], 33), 3)
    limit = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-11}[dtype]
    ours = tf.nn.experimental.scaled_dot_product_attention(q, k, v, is_causal=causal)
    assert_close(ours, attention(q, k, v, causal=causal).astype(dtype), rtol=limit)


def test_masks():
    q, k, v = (sample("float32", (2, 3, 9, 16), seed) for seed in (1, 2, 3))
    for shape in [(9, 9), (2, 1, 1, 9), (1, 3, 9, 9)]:
        mask = sample("bool", shape, 4)
        mask[..., 0] = True
        ours = tf.nn.experimental.scaled_dot_product_attention(q, k, v, mask, scale=0.5)
        assert_close(ours, attention(q, k, v, mask, scale=0.5).astype("float32"), rtol=1e-4)
    bias = sample("float32", (3, 9, 9), 5)
    ours = tf.nn.experimental.scaled_dot_product_attention(q, k, v, bias, is_causal=True)
    assert_close(ours, attention(q, k, v, bias, True).astype("float32"), rtol=1e-4)
    none = np.zeros((9, 9), bool)
    assert not tf.nn.experimental.scaled_dot_product_attention(q, k, v, none).numpy().any()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_and_their_gradients_are_those_of_floats(dtype, causal):
    half = [tf.cast(tf.constant(sample("float32", (2, 140, 24), n)), dtype) for n in (1, 2, 3)]
    results, gradients = [], []
    for inputs in (half, [tf.cast(t, "float32") for t in half]):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = tf.nn.experimental.scaled_dot_product_attention(*inputs, is_causal=causal)
            loss = tf.reduce_sum(tf.cast(y, "float32") ** 2)
        results.append(tf.cast(y, "float32"))
        gradients.append(tape.gradient(loss, inputs))
    rtol = {"float16": 4e-3, "bfloat16": 4e-2}[dtype]
    assert_close(results[0], results[1].numpy(), rtol=rtol)
    for ours, wide in zip(*gradients, strict=True):
        assert ours.dtype == dtype
        # What flows back was rounded to the half type before: errors are those of large elements.
        room = rtol * np.abs(wide.numpy()).max()
        assert_close(tf.cast(ours, "float32"), wide.numpy(), rtol=rtol, atol=room)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_memory_is_linear_in_length(dtype):
    attend = tf.nn.experimental.scaled_dot_product_attention

    def extra(length):
        """Bytes beyond the inputs at the peak of attention and its gradient."""
        q = tf.constant(sample(dtype, (1, 1, length, 16), 1))
        tf.memory.reset_peak()
        before = tf.memory.stats().live
        with tf.GradientTape() as tape:
            tape.watch(q)
            y = attend(q, q, q, is_causal=True)
        tape.gradient(y, q)
        return tf.memory.stats().peak - before

    short, middle, long = extra(1024), extra(2048), extra(4096)
    # A byte for every fourth score, and what more than four processors have for their blocks.
    assert long < 4096 * 4096 / 4 + max(0, os.cpu_count() - 4) * (1 << 20)
    # Large blocks are rounded up to huge pages where that costs little.
    assert long - middle < 2.2 * (middle - short) + (1 << 20)


def test_refusals():
    q = sample("float32", (2, 4, 3), 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="depth"):
        tf.nn.experimental.scaled_dot_product_attention(q, q[..., :2], q)
    with pytest.raises(tf.errors.InvalidArgumentError, match="mask"):
        tf.nn.experimental.scaled_dot_product_attention(q, q, q, np.ones((3, 3), bool))
