"""Models that are built in TensorFlow and here; their graphs go from one to the other.

``tools/record_graphs.py`` writes what TensorFlow makes of them into ``data/graphs``: the frozen
GraphDef, the inputs and the outputs, and whether TensorFlow gives the same for the graph written
here. Each model gives the names of its outputs; its inputs are fed by name.
"""

from __future__ import annotations

import numpy as np

MODELS = {}


def model(**inputs):
    """``inputs``: the shapes of what is fed."""

    def register(function):
        MODELS[function.__name__] = (inputs, function)
        return function

    return register


def numbers(seed, *shape):
    """The same numbers everywhere."""
    return np.random.RandomState(seed).uniform(-0.5, 0.5, shape).astype(np.float32)


def fed(shapes):
    """Values of the inputs."""
    return {name: numbers(97 + i, *shape) for i, (name, shape) in enumerate(sorted(shapes.items()))}


@model(x=(3, 4))
def mlp(tf):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    hidden = x
    for i, (rows, columns) in enumerate([(4, 8), (8, 8), (8, 3)]):
        with tf.variable_scope(f"layer_{i}"):
            w = tf.get_variable("w", initializer=tf.constant(numbers(i, rows, columns)))
            b = tf.get_variable("b", initializer=tf.constant(numbers(i + 9, columns)))
            hidden = tf.nn.bias_add(tf.matmul(hidden, w), b)
            hidden = tf.nn.relu(hidden) if i < 2 else hidden
    tf.nn.softmax(hidden, name="probabilities")
    tf.argmax(hidden, 1, name="best")
    return ["probabilities", "best"]


@model(images=(2, 12, 12, 3))
def cnn(tf):
    x = tf.placeholder(tf.float32, [None, 12, 12, 3], name="images")
    w = tf.constant(numbers(1, 3, 3, 3, 6))
    y = tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"))
    y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    y = tf.nn.conv2d(y, tf.constant(numbers(2, 3, 3, 6, 8)), [1, 2, 2, 1], "VALID")
    mean, variance = tf.nn.moments(y, [0, 1, 2])
    scale, offset = tf.constant(numbers(3, 8) + 1), tf.constant(numbers(4, 8))
    y = tf.nn.elu(tf.nn.batch_normalization(y, mean, variance, offset, scale, 1e-3))
    y = tf.nn.avg_pool(y, [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    flat = tf.reshape(y, [tf.shape(y)[0], 8])
    tf.matmul(flat, tf.constant(numbers(5, 8, 4)), name="logits")
    return ["logits"]


@model(x=(2, 5, 3))
def lstm(tf):
    x = tf.placeholder(tf.float32, [None, 5, 3], name="x")
    kernel, bias = tf.constant(numbers(1, 3 + 4, 16)), tf.constant(numbers(2, 16))
    batch = tf.shape(x)[0]
    c, h = tf.zeros([batch, 4]), tf.zeros([batch, 4])
    for step in tf.unstack(x, 5, axis=1):
        gates = tf.matmul(tf.concat([step, h], 1), kernel) + bias
        i, j, f, o = tf.split(gates, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
    tf.identity(h, name="state")
    tf.identity(c, name="cell")
    return ["state", "cell"]


@model(x=(2, 6, 8))
def attention(tf):
    x = tf.placeholder(tf.float32, [None, 6, 8], name="x")
    heads = []
    for i in range(3):
        projected = tf.tensordot(x, tf.constant(numbers(i, 8, 8)), 1)
        split = tf.reshape(projected, [-1, 6, 2, 4])
        heads.append(tf.transpose(split, [0, 2, 1, 3]))
    q, k, v = heads
    scores = tf.matmul(q, k, transpose_b=True) * 0.5
    visible = tf.linalg.band_part(tf.ones([6, 6]), -1, 0)
    scores = scores * visible - 1e9 * (1.0 - visible)
    mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3])
    out = tf.reshape(mixed, [-1, 6, 8]) + x
    mean = tf.reduce_mean(out, -1, keepdims=True)
    deviation = tf.math.rsqrt(
        tf.reduce_mean(tf.math.squared_difference(out, mean), -1, True) + 1e-6
    )
    tf.identity((out - mean) * deviation, name="y")
    return ["y"]


@model(x=(4, 5))
def arrays(tf):
    x = tf.placeholder(tf.float32, [4, 5], name="x")
    parts = [x[1:3, ::2], tf.gather(x, [2, 0]), tf.tile(x, [1, 2])[:2], tf.pad(x, [[0, 0], [1, 2]])]
    parts += [tf.concat([x, x], 0), tf.stack([x, -x], 1), tf.reverse(x, [1]), tf.cumsum(x, 1)]
    parts += [tf.where(x > 0, x, tf.zeros_like(x)), tf.transpose(x), tf.expand_dims(x, 1)]
    parts += [tf.one_hot([0, 2], 3), tf.cast(x * 10, tf.int32), tf.nn.top_k(x, 2)[0]]
    parts += [tf.clip_by_value(x, -0.1, 0.2), tf.slice(x, [0, 1], [2, 3]), tf.squeeze(x[:, :1])]
    for i, part in enumerate(parts):
        tf.identity(part, name=f"part_{i}")
    return [f"part_{i}" for i in range(len(parts))]


@model(x=(3, 4))
def functions(tf):
    x = tf.placeholder(tf.float32, [3, 4], name="x")
    made = [tf.exp(x), tf.math.log(x + 2), tf.tanh(x), tf.math.erf(x), tf.math.softplus(x), x**2]
    made += [
        tf.reduce_logsumexp(x, 1),
        tf.reduce_max(x, 0),
        tf.reduce_prod(x),
        tf.math.rsqrt(x + 1),
    ]
    made += [tf.nn.softsign(x), tf.nn.selu(x), tf.nn.leaky_relu(x), tf.nn.log_softmax(x), tf.abs(x)]
    made += [tf.floor(x * 5), tf.round(x * 5), tf.sign(x), tf.maximum(x, 0.1), x // 0.3, x % 0.3]
    made += [tf.nn.softmax(x, 0), tf.nn.l2_normalize(x, 1), tf.nn.moments(x, [0])[1], 1.0 / (x + 3)]
    for i, value in enumerate(made):
        tf.identity(value, name=f"f_{i}")
    return [f"f_{i}" for i in range(len(made))]


@model(x=(3, 2), y=(3, 1))
def descent(tf):
    """Losses and gradients of a step of training."""
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    y = tf.placeholder(tf.float32, [3, 1], name="y")
    w = tf.constant(numbers(1, 2, 4))
    v = tf.constant(numbers(2, 4, 1))
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x, w)), v) - y), name="loss")
    for i, gradient in enumerate(tf.gradients(loss, [w, v])):
        tf.identity(gradient, name=f"gradient_{i}")
    return ["loss", "gradient_0", "gradient_1"]
