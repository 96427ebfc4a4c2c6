"""Models that ``tools/record_written_onnx.py`` writes as ONNX: name → how one is made.

Each takes Tidemark and gives what to write, its signature (None: its own) and inputs by name.
Weights come from NumPy, so that the files are the same wherever they are written.
"""

from __future__ import annotations

import numpy as np

PROGRAMS = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def numbers(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _filled(model):
    for number, variable in enumerate(model.weights):
        scale = 0.5 if "variance" not in variable.path else 0.1
        value = numbers(*variable.shape, seed=number) * scale
        variable.assign(np.abs(value) + 0.5 if "variance" in variable.path else value)
    return model


@program
def mlp(tf):
    """Keras: dense layers, batch normalisation, dropout, several activations."""
    tf.keras.backend.clear_session()  # names count from the first again
    layers = tf.keras.layers
    return _filled(tf.keras.Sequential([
        tf.keras.Input((8,), name="features"), layers.Dense(16, "relu"),
        layers.BatchNormalization(), layers.Dropout(0.5), layers.Dense(4, "gelu"),
        layers.Dense(6, "swish"), layers.Dense(5, "leaky_relu"), layers.Dense(3, "softmax"),
    ])), None, {"features": numbers(5, 8)}  # fmt: skip


@program
def cnn(tf):
    """Keras: convolutions of several kinds, pooling, pictures made larger."""
    tf.keras.backend.clear_session()  # names count from the first again
    layers = tf.keras.layers
    picture = tf.keras.Input((16, 16, 3), name="picture")
    x = layers.Rescaling(1 / 127.5, -1)(picture)
    x = layers.Conv2D(8, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu6")(x)
    x = layers.MaxPooling2D()(x)
    x = layers.DepthwiseConv2D(3, padding="same", activation="swish")(x)
    x = layers.SeparableConv2D(12, 3, strides=2, padding="same")(x)
    x = layers.add([x, layers.Conv2D(12, 1)(x)])
    x = layers.Conv2DTranspose(6, 3, strides=2, padding="same", activation="elu")(x)
    x = layers.Conv2DTranspose(5, 4, strides=3, padding="valid")(x)
    x = layers.ZeroPadding2D(1)(x)
    x = layers.AveragePooling2D(2)(x)
    x = layers.UpSampling2D(2, interpolation="bilinear")(x)
    x = layers.UpSampling2D(2)(x)
    x = layers.GlobalAveragePooling2D()(x)
    model = tf.keras.Model(picture, layers.Dense(5, "softmax", name="classes")(x))
    return _filled(model), None, {"picture": np.abs(numbers(2, 16, 16, 3)) * 100}


@program
def lstm(tf):
    """Keras: an embedding, a masked LSTM in both directions, a GRU: loops over arrays."""
    tf.keras.backend.clear_session()  # names count from the first again
    layers = tf.keras.layers
    words = tf.keras.Input((None,), dtype="int32", name="words")
    x = layers.Embedding(20, 6, mask_zero=True)(words)
    x = layers.Bidirectional(layers.LSTM(5, return_sequences=True))(x)
    x = layers.GRU(4)(x)
    given = np.array([[1, 2, 3, 0, 0], [4, 5, 6, 7, 8], [9, 0, 0, 0, 0]], np.int32)
    return _filled(tf.keras.Model(words, layers.Dense(2)(x))), None, {"words": given}


@program
def transformer(tf):
    """Keras: attention that sees only what came before, normalisations."""
    tf.keras.backend.clear_session()  # names count from the first again
    layers = tf.keras.layers
    ids = tf.keras.Input((None,), dtype="int32", name="ids")
    x = layers.Embedding(12, 8)(ids)
    y = layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
    x = layers.LayerNormalization()(layers.add([x, y]))
    x = layers.add([x, layers.Dense(8)(layers.Dense(16, "gelu")(x))])
    x = layers.GlobalMaxPooling1D()(layers.LayerNormalization()(x))
    model = tf.keras.Model(ids, layers.Dense(3)(x))
    return _filled(model), None, {"ids": np.array([[1, 5, 2, 7], [3, 3, 11, 0]], np.int32)}


@program
def control(tf):
    """Branches and loops: nested, chosen by a number, ended early, filling an array."""
    weights = tf.constant(numbers(3, 3) / 2)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x"),
                                  tf.TensorSpec([], tf.int32, "rounds")])  # fmt: skip
    def control(x, rounds):
        y, count = x, tf.constant(0)
        while count < rounds and tf.reduce_max(tf.abs(y)) < 50.0:
            if count % 2 == 0:  # noqa: SIM108 - a statement over tensors is what is written
                y = tf.matmul(y, weights) + x
            else:
                y = tf.nn.relu(y) * 2.0 - 1.0
            count += 1
        rows = tf.TensorArray(tf.float32, size=rounds)
        for i in range(rounds):
            rows = rows.write(i, tf.reduce_sum(y, 0) * tf.cast(i, tf.float32))
        chosen = tf.switch_case(count % 3, [lambda: y, lambda: -y, lambda: y * y])
        return chosen, count, rows.stack()

    return control, None, {"x": numbers(4, 3), "rounds": np.int32(5)}


@program
def arrays(tf):
    """Slices of all kinds, gathering, scattering, sorting, masks."""

    @tf.function(input_signature=[tf.TensorSpec([None, 6], tf.float32, "x"),
                                  tf.TensorSpec([None], tf.int32, "ids"),
                                  tf.TensorSpec([], tf.int32, "n")])  # fmt: skip
    def arrays(x, ids, n):
        first, second = tf.unstack(tf.ensure_shape(x[:2], [2, 6]))
        return {
            "slices": x[:, ::-2][..., tf.newaxis, 1:],
            "last": x[-1, :n],
            "row": x[n],
            "from": x[n:, tf.newaxis, -3:-1],
            "gathered": tf.gather(x, ids % tf.shape(x)[0]),
            "hot": tf.one_hot(ids - 1, 4, on_value=2.0, off_value=-1.0),
            "halves": tf.split(x, 2, axis=1)[1],
            "both": tf.stack([first, second], axis=1),
            "band": tf.linalg.band_part(tf.matmul(x, x, transpose_a=True), 1, 2),
            "top": tf.math.top_k(x, 3).values,
            "places": tf.math.top_k(x, 3).indices,
            "sorted": tf.sort(x, axis=0),
            "order": tf.argsort(x, direction="DESCENDING"),
            "masked": tf.boolean_mask(x, x[:, 0] > 0),
            "true": tf.where(x > 1.0),
            "segments": tf.math.unsorted_segment_sum(x, tf.range(tf.shape(x)[0]) % 3 - 1, 2),
            "updated": tf.tensor_scatter_nd_update(x, [[0], [2]], tf.zeros([2, 6])),
            "added": tf.tensor_scatter_nd_add(x, [[1], [1]], tf.ones([2, 6])),
            "rolled": tf.roll(x, 2, axis=1),
            "turned": tf.reverse(x, [0]),
            "repeated": tf.repeat(x, 2, axis=1),
            "padded": tf.pad(x, [[1, 0], [0, 2]], constant_values=7.0),
            "line": tf.linspace(0.0, x[0, 0], 4),
            "found": tf.searchsorted(tf.sort(x), x[:, :2], side="right"),
            "rank": tf.rank(x) + tf.size(x),
        }

    given = {"x": numbers(5, 6), "ids": np.array([3, 0, 4, 1], np.int32), "n": np.int32(2)}
    return arrays, None, given


@program
def arithmetic(tf):
    """Functions of elements and reductions."""

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, "x"),
                                  tf.TensorSpec([4], tf.float32, "y"),
                                  tf.TensorSpec([3], tf.int32, "i")])  # fmt: skip
    def arithmetic(x, y, i):
        return {
            "log1p": tf.math.log1p(tf.abs(x) * 1e-3), "expm1": tf.math.expm1(x),
            "floordiv": x // y, "floormod": x % y, "ints": (i // 3, i % 3, i // -2, i % -2),
            "no_nan": tf.math.divide_no_nan(x, tf.nn.relu(y)),
            "xlogy": tf.math.xlogy(tf.nn.relu(x), tf.abs(y)),
            "finite": tf.math.is_finite(x / tf.nn.relu(y)),
            "log_sigmoid": tf.math.log_sigmoid(x), "erfc": tf.math.erfc(x),
            "rint": tf.math.rint(x * 3), "round": tf.round(x * 3),
            "any": tf.reduce_any(x > 1, 1), "all": tf.reduce_all(x > -1, 0),
            "std": tf.math.reduce_std(x, 1), "lse": tf.reduce_logsumexp(x, 1, keepdims=True),
            "mean": tf.reduce_mean(x), "norm": tf.linalg.norm(x, axis=1),
            "cumsum": tf.cumsum(x, 1, exclusive=True), "clip": tf.clip_by_value(x, -0.5, 0.5),
            "argmax": tf.argmax(x, 1), "squared": tf.math.squared_difference(x, y),
            "softmax": tf.nn.softmax(x), "log_softmax": tf.nn.log_softmax(x, 0),
            "cast": tf.cast(x * 10, tf.int32), "select": tf.where(x > y, x, y),
            "pow": tf.abs(x) ** 1.5, "rsqrt": tf.math.rsqrt(tf.abs(x) + 1),
        }  # fmt: skip

    given = {"x": numbers(5, 4), "y": numbers(4, seed=1), "i": np.array([-7, 0, 8], np.int32)}
    return arithmetic, None, given


@program
def pictures(tf):
    """Pictures resized by several methods, normalised as in training."""
    scale, shift = tf.constant(numbers(3)), tf.constant(numbers(3, seed=1))

    @tf.function(input_signature=[tf.TensorSpec([None, 5, 7, 3], tf.float32, "x")])
    def pictures(x):
        normal, mean, variance = tf.compat.v1.nn.fused_batch_norm(x, scale, shift, epsilon=1e-3)
        return {
            "bilinear": tf.image.resize(x, [9, 4]),
            "nearest": tf.image.resize(x, [3, 11], "nearest"),
            "bicubic": tf.image.resize(x, [8, 14], "bicubic"),
            "normal": normal, "mean": mean, "variance": variance,
            "flipped": tf.image.flip_left_right(x),
        }  # fmt: skip

    return pictures, None, {"x": numbers(2, 5, 7, 3)}
