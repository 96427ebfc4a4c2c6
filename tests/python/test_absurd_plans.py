"""Plans of sizes no machine has: workspaces, offsets and counts are told, and nothing is taken."""

import pytest
import this_device

import tidemark as tf

ROWS = 1 << 33
GIB = 1 << 30


def attend(q):
    return tf.nn.experimental.scaled_dot_product_attention(q, q, q, is_causal=True)


def normalise(x):
    return tf.nn.experimental.layer_norm(x, tf.ones([8]), tf.zeros([8]))


def entropy(x):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(tf.zeros([1 << 30], tf.int32), x)


# op, shape of its argument, the GiB that its results alone take
CASES = {
    "sort": (tf.sort, (ROWS, 8), 256),
    "argsort": (tf.argsort, (ROWS, 4), 128),
    "top_k": (lambda x: tf.math.top_k(x, 3), (ROWS, 8), 192),
    "cumsum": (lambda x: tf.cumsum(x, 0), (ROWS, 4), 128),
    "softmax": (tf.nn.softmax, (ROWS, 8), 256),
    "softmax of columns": (lambda x: tf.nn.softmax(x, axis=0), (ROWS, 8), 256),
    "sum": (tf.reduce_sum, (ROWS, 8), 0),
    "sum of columns": (lambda x: tf.reduce_sum(x, 0), (ROWS, 8), 0),
    "transpose": (lambda x: tf.transpose(x, [2, 0, 1]), (ROWS, 8, 3), 768),
    "rfft": (tf.signal.rfft, (1 << 34,), 64),
    "layer_norm": (normalise, (ROWS, 8), 256),
    "attention": (attend, (1 << 10, 8, 1 << 20, 64), 2048),
    "max_pool": (lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), (ROWS, 16, 16, 4), 8192),
    "avg_pool": (lambda x: tf.nn.avg_pool2d(x, 3, 1, "SAME"), (4, 1 << 18, 1 << 18, 4), 4096),
    "matmul of a batch": (lambda x: tf.matmul(x, x), (1 << 30, 64, 64), 16384),
    "matvec": (lambda x: tf.linalg.matvec(x, tf.ones([8])), (1 << 36, 8), 256),
    "einsum": (lambda x: tf.einsum("ij,kj->ik", x, x), (1 << 25, 8), 4194304),
    "cholesky": (tf.linalg.cholesky, (1 << 24, 1 << 24), 1048576),
    "resize": (lambda x: tf.image.resize(x, (1 << 14, 1 << 14)), (1 << 10, 16, 16, 3), 3072),
    "cross entropy": (entropy, (1 << 30, 1 << 10), 4),
    "random": (lambda x: tf.random.normal([1 << 40]) + x, (), 4096),
}


@pytest.mark.parametrize("name", CASES)
def test_is_planned(name):
    op, shape, gib = CASES[name]
    before = tf.memory.stats().live
    plan = tf.function(op, autograph=False).plan(tf.TensorSpec(shape, tf.float32))
    peak = this_device.peak_of(plan)
    # What has no kernel for this device is planned on the host.
    assert max(peak, plan.peak) >= gib * GIB
    assert plan.lower_bound <= plan.peak
    is_over = not this_device.IS_CPU and peak > 0 and peak + plan.inputs > this_device.limit()
    assert ("limit" in plan.over_limit) == is_over
    assert tf.memory.stats().live - before < 1 << 20
