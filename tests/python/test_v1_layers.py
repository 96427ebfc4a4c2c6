"""TensorFlow 1's layers and recurrent networks: names, shapes, values, training."""

import numpy as np
import pytest

import tidemark as tf

v1 = tf.compat.v1
layers = v1.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def names():
    return [v.name for v in v1.global_variables()]


def run(fetches, feeds=None):
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        return sess.run(fetches, feeds)


def test_dense_is_a_product_and_a_sum():
    x = v1.placeholder(tf.float32, [None, 3])
    y = layers.dense(x, 2, activation=tf.nn.relu)
    value = np.arange(6, dtype=np.float32).reshape(2, 3)
    out, kernel, bias = run([y, "dense/kernel:0", "dense/bias:0"], {x: value})
    np.testing.assert_allclose(out, np.maximum(value @ kernel + bias, 0), rtol=1e-5)
    assert names() == ["dense/kernel:0", "dense/bias:0"]


def test_names_count_and_scopes_share():
    x = v1.placeholder(tf.float32, [None, 3])
    layers.dense(x, 2)
    layers.dense(x, 2)
    with v1.variable_scope("a"):
        layers.dense(x, 2)
        first = layers.dense(x, 2, name="same", use_bias=False)
    with v1.variable_scope("a", reuse=True):
        second = layers.dense(x, 2, name="same", use_bias=False)
    assert names()[::2][:3] == ["dense/kernel:0", "dense_1/kernel:0", "a/dense/kernel:0"]
    assert names()[6:] == ["a/same/kernel:0"]
    a, b = run([first, second], {x: np.ones((1, 3))})
    np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="already exists"), v1.variable_scope("a"):
        layers.dense(x, 2, name="same")


def test_a_layer_keeps_its_variables():
    x = v1.placeholder(tf.float32, [None, 3])
    layer = layers.Dense(4, name="fc")
    one, two = layer(x), layer(x)
    assert [v.name for v in layer.variables] == ["fc/kernel:0", "fc/bias:0"]
    a, b = run([one, two], {x: np.ones((2, 3))})
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("make", "given", "wanted", "first"),
    [
        (lambda x: layers.conv1d(x, 6, 3), (2, 8, 3), (2, 6, 6), "conv1d/kernel:0"),
        (lambda x: layers.conv2d(x, 6, 3, padding="same"), (2, 8, 8, 3), (2, 8, 8, 6),
         "conv2d/kernel:0"),
        (lambda x: layers.conv2d(x, 6, (3, 3), strides=(2, 2)), (2, 8, 8, 3), (2, 3, 3, 6),
         "conv2d/kernel:0"),
        (lambda x: layers.conv3d(x, 2, 3), (1, 4, 4, 4, 3), (1, 2, 2, 2, 2), "conv3d/kernel:0"),
        (lambda x: layers.conv2d_transpose(x, 6, 3, 2, "same"), (2, 4, 4, 3), (2, 8, 8, 6),
         "conv2d_transpose/kernel:0"),
        (lambda x: layers.conv2d_transpose(x, 6, 3, 2), (2, 4, 4, 3), (2, 9, 9, 6),
         "conv2d_transpose/kernel:0"),
        (lambda x: layers.separable_conv2d(x, 6, 3), (2, 8, 8, 3), (2, 6, 6, 6),
         "separable_conv2d/depthwise_kernel:0"),
        (lambda x: layers.max_pooling2d(x, 2, 2), (2, 8, 8, 3), (2, 4, 4, 3), None),
        (lambda x: layers.average_pooling1d(x, 2, 2), (2, 8, 3), (2, 4, 3), None),
        (lambda x: layers.flatten(x), (2, 3, 4), (2, 12), None),
        (lambda x: layers.dense(x, 5), (2, 3, 4), (2, 3, 5), "dense/kernel:0"),
    ],
)  # fmt: skip
def test_shapes_and_names(make, given, wanted, first):
    x = v1.placeholder(tf.float32, [None, *given[1:]])
    y = make(x)
    assert y.shape.as_list()[1:] == list(wanted[1:])
    assert run(y, {x: np.ones(given)}).shape == wanted
    assert (names() or [None])[0] == first


def test_batch_normalization_remembers():
    x = v1.placeholder(tf.float32, [None, 4])
    training = v1.placeholder_with_default(False, [])
    y = layers.batch_normalization(x, training=training, momentum=0.9)
    updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
    value = np.random.RandomState(0).randn(64, 4) * 3 + 1
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        before = sess.run(y, {x: value})
        out, *_ = sess.run([y, *updates], {x: value, training: True})
        mean = sess.run("batch_normalization/moving_mean:0")
        sess.run(updates, {x: value})  # not training: nothing moves
        assert np.array_equal(mean, sess.run("batch_normalization/moving_mean:0"))
    np.testing.assert_allclose(before, value / np.sqrt(1.001), rtol=1e-4)
    np.testing.assert_allclose(out.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(out.std(0), 1, atol=1e-3)
    np.testing.assert_allclose(mean, value.mean(0) * 0.1, rtol=1e-4)


def test_dropout_by_a_tensor():
    x = v1.placeholder(tf.float32, [None, 1000])
    training = v1.placeholder_with_default(False, [])
    y = layers.dropout(x, 0.4, training=training)
    ones = np.ones((1, 1000))
    assert (run(y, {x: ones}) == 1).all()
    dropped = run(y, {x: ones, training: True})
    assert 300 < (dropped == 0).sum() < 500
    np.testing.assert_allclose(dropped.max(), 1 / 0.6, rtol=1e-5)


def test_regularizers_are_collected():
    x = v1.placeholder(tf.float32, [None, 3])
    layers.dense(x, 2, kernel_regularizer=lambda w: 0.5 * tf.reduce_sum(tf.square(w)))
    (loss,) = v1.losses.get_regularization_losses()
    found, kernel = run([loss, "dense/kernel:0"])
    np.testing.assert_allclose(found, 0.5 * np.square(kernel).sum(), rtol=1e-5)


# --- recurrent networks --------------------------------------------------------------------------

cells = v1.nn.rnn_cell


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_lstm_by_hand():
    x = v1.placeholder(tf.float32, [None, 5, 3])
    outputs, state = v1.nn.dynamic_rnn(cells.BasicLSTMCell(4), x, dtype=tf.float32)
    value = np.random.RandomState(0).randn(2, 5, 3).astype(np.float32)
    out, last, kernel, bias = run(
        [outputs, state, "rnn/basic_lstm_cell/kernel:0", "rnn/basic_lstm_cell/bias:0"], {x: value}
    )
    c = h = np.zeros((2, 4), np.float32)
    for t in range(5):
        i, j, f, o = np.split(np.concatenate([value[:, t], h], 1) @ kernel + bias, 4, axis=1)
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
        h = sigmoid(o) * np.tanh(c)
        np.testing.assert_allclose(out[:, t], h, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(last.c, c, rtol=1e-4, atol=1e-6)


def test_sequences_end_early():
    x = v1.placeholder(tf.float32, [None, 5, 3])
    outputs, state = v1.nn.dynamic_rnn(
        cells.GRUCell(4), x, sequence_length=[2, 5, 3], dtype=tf.float32
    )
    out, last = run([outputs, state], {x: np.ones((3, 5, 3))})
    assert (out[0, 2:] == 0).all() and (out[2, 3:] == 0).all() and (out[1, 4] != 0).all()
    np.testing.assert_array_equal(last[0], out[0, 1])


@pytest.mark.parametrize(
    "make",
    [
        lambda: cells.BasicRNNCell(4),
        lambda: cells.GRUCell(4),
        lambda: cells.LSTMCell(4, use_peepholes=True, num_proj=3, cell_clip=1.0),
        lambda: cells.MultiRNNCell([cells.GRUCell(4), cells.BasicLSTMCell(3)]),
        lambda: cells.DropoutWrapper(cells.GRUCell(4), 1.0, 0.9),
    ],
)
def test_recurrent_networks_learn(make):
    x = v1.placeholder(tf.float32, [None, 4, 3])
    outputs, _ = v1.nn.dynamic_rnn(make(), x, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs - 0.1))
    step = v1.train.AdamOptimizer(0.02).minimize(loss)
    value = np.random.RandomState(0).randn(4, 4, 3)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        first = sess.run(loss, {x: value})
        for _ in range(30):
            sess.run(step, {x: value})
        assert sess.run(loss, {x: value}) < 0.7 * first


def test_static_and_dynamic_agree():
    x = v1.placeholder(tf.float32, [2, 4, 3])
    cell = cells.GRUCell(5)
    with v1.variable_scope("both"):
        dynamic, _ = v1.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        static, _ = v1.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
    a, b = run([dynamic, tf.stack(static, axis=1)], {x: np.random.randn(2, 4, 3)})
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_both_ways():
    x = v1.placeholder(tf.float32, [None, 4, 3])
    (fw, bw), _ = v1.nn.bidirectional_dynamic_rnn(
        cells.GRUCell(5), cells.GRUCell(5), x, dtype=tf.float32
    )
    a, b = run([fw, bw], {x: np.random.randn(2, 4, 3)})
    assert a.shape == b.shape == (2, 4, 5)
    assert "bidirectional_rnn/fw/gru_cell/gates/kernel:0" in names()
