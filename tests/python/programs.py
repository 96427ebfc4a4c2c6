"""Small programs that together reach every family of ops; run by several tests of memory."""

import numpy as np

import tidemark as tf

ARRAY = np.arange(64, dtype=np.float32).reshape(8, 8)


def constants():
    tf.constant([1.0, 2.0, 3.0])
    tf.constant(["a", "bb", "c" * 100])
    tf.constant(ARRAY.T)
    tf.convert_to_tensor(ARRAY) + tf.convert_to_tensor(list(range(8)), tf.float32)
    tf.zeros([3, 4]) + tf.ones_like(tf.fill([3, 4], 2.0)) + tf.eye(3, 4)
    tf.range(10), tf.linspace(0.0, 1.0, 5)


def elementwise():
    x = tf.constant(ARRAY)
    y = tf.exp(-x) * 2 + tf.sqrt(x) / (x + 1)
    z = tf.where(y > 0.5, y, -y)
    tf.cast(tf.maximum(z, 0.1), tf.float16)
    tf.math.tanh(z) ** 2
    tf.logical_and(z > 0, z < 1)
    tf.clip_by_value(z, 0.0, 1.0)
    float(z[0, 0])


def reductions():
    x = tf.constant(ARRAY)
    tf.reduce_sum(x, 0), tf.reduce_mean(x, [0, 1]), tf.reduce_max(x, 1, keepdims=True)
    tf.math.reduce_std(x), tf.reduce_logsumexp(x, -1)
    tf.reduce_any(x > 3), tf.math.count_nonzero(x)


def scans():
    x = tf.constant(ARRAY)
    tf.argmax(x, 1), tf.argmin(x), tf.cumsum(x, 1), tf.math.cumprod(x, 0, reverse=True)
    tf.math.cumulative_logsumexp(x, exclusive=True), tf.random.categorical(x, 3)


def movement():
    x = tf.constant(ARRAY)
    y = tf.concat([x, tf.transpose(x)], 1)
    a, b = tf.split(y, 2, axis=1)
    tf.stack([a, b]), tf.tile(a, [2, 1]), tf.pad(a, [[1, 1], [0, 2]])
    tf.reverse(a, [0]), tf.roll(a, 1, 0), tf.reshape(a, [-1])[3:9], a[::2, 1:3], a[..., None]
    tf.gather(a, [1, 0]), tf.gather_nd(a, [[0, 1]]), tf.boolean_mask(a, a[:, 0] > 8)
    tf.one_hot([1, 2], 4), tf.scatter_nd([[1]], [2.0], [4]), tf.where(a > 9)
    for row in a:
        row + 1


def order():
    x = tf.constant(ARRAY[:, ::-1].copy())
    tf.sort(x), tf.argsort(x, 0), tf.math.top_k(x, 3), tf.unique(tf.reshape(x, [-1]))


def products():
    x = tf.constant(ARRAY)
    tf.matmul(x, x, transpose_b=True), x @ x, tf.tensordot(x, x, 1)
    tf.matmul(tf.reshape(x, [2, 4, 8]), tf.reshape(x, [2, 8, 4]))


def randoms():
    tf.random.normal([50]), tf.random.uniform([50], maxval=10, dtype=tf.int32)
    tf.random.truncated_normal([50]), tf.random.shuffle(tf.range(10))
    tf.random.stateless_normal([50], seed=[1, 2])


def conversion():
    tf.constant([[1, 2.5], [True, 3]]), tf.constant([tf.constant(1.0), 2.0])
    tf.convert_to_tensor(ARRAY.astype(">f8")), tf.constant(ARRAY.astype(np.int8), tf.float32)
    tf.constant(np.array(["a", "bcd"])), tf.constant(np.array([b"x", "yy"], object))
    tf.convert_to_tensor(memoryview(b"bytes")), tf.constant(7, shape=[2, 3])
    tf.experimental.dlpack.from_dlpack(ARRAY[:, ::2]), tf.bitcast(tf.constant([1.0]), tf.int32)
    np.asarray(tf.constant([1, 2])), tf.constant([1, 2]).numpy().tolist()


def texts():
    words = tf.constant([["tide", "mark"], ["a" * 50, ""]])
    tf.reshape(words, [-1])[1:], tf.concat([words, words], 0), tf.gather(words, [1, 0])
    tf.transpose(words), tf.tile(words, [1, 2]), words == "tide", words + "!"
    repr(words), str(words[0, 0]), words.numpy()
    repr(tf.constant(ARRAY)), str(tf.constant(1 + 2j)), f"{tf.constant(2.5):.1f}"


def indexing():
    x = tf.constant(ARRAY)
    x[1], x[-1, 2:], x[..., ::-2], x[tf.newaxis, 3], x[:, tf.constant(2)], x[x > 5]
    x[tf.constant(1) : tf.constant(4)], tf.slice(x, [1, 2], [2, -1]), list(x[0])
    tf.tensor_scatter_nd_update(x, [[0, 1]], [9.0]), tf.tensor_scatter_nd_add(x, [[2]], x[:1])
    tf.strided_slice(x, [0, 1], [8, 8], [3, 2])


def segments():
    x = tf.constant(ARRAY)
    ids = tf.constant([0, 0, 1, 1, 2, 2, 3, 3])
    tf.math.segment_sum(x, ids), tf.math.unsorted_segment_mean(x, ids, 5)
    tf.linalg.diag(x[0]), tf.linalg.band_part(x, 1, 1), tf.linalg.diag_part(x)
    tf.nn.softmax(x), tf.nn.relu(x), tf.nn.gelu(x)
    tf.debugging.assert_equal(x, x), tf.math.reduce_variance(x, 1)


def errors():
    for ask in (
        lambda: tf.reshape(tf.range(6), [4]),
        lambda: tf.zeros([2]) + tf.zeros([3]),
        lambda: tf.gather([1.0, 2.0], [5]),
        lambda: tf.concat([tf.zeros([2]), tf.zeros([2, 2])], 0),
    ):
        try:
            ask()
            tf.test.experimental.sync_devices()  # a queue tells what failed to whoever waits
        except tf.errors.InvalidArgumentError:
            pass
        else:
            raise AssertionError("no error")


ALL = (
    constants, conversion, texts, elementwise, reductions, scans, movement, indexing, segments,
    order, products, randoms, errors,
)  # fmt: skip
