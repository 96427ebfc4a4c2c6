"""Modules, losses, metrics and optimizers of the C++ API do what Keras's do, on the same numbers.

`build/keras_twin` (tests/support/keras_twin.cpp) trains for 20 steps what is trained here by Keras:
the first steps eagerly, the others as one traced function.
"""

import importlib.util
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tidemark as tf

if importlib.util.find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)

keras = tf.keras
ROOT = Path(__file__).parents[2]
TWIN = ROOT / "build" / "keras_twin"
pytestmark = pytest.mark.skipif(not TWIN.exists(), reason="build/keras_twin is not built")

STEPS = 20
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def line_of(array):
    array = np.asarray(array)
    dtype = "int32" if array.dtype.kind == "i" else "float32"
    values = array.astype(dtype).ravel()
    return " ".join(
        [dtype, str(array.ndim), *map(str, array.shape), *(repr(v.item()) for v in values)]
    )


def read_line(line):
    numbers = line.split()
    rank = int(numbers[0])
    shape = tuple(int(n) for n in numbers[1 : 1 + rank])
    return np.array(numbers[1 + rank :], np.float32).reshape(shape)


def twin(kind, name, *tensors):
    done = subprocess.run(
        [TWIN, kind, name], input="\n".join(map(line_of, tensors)) + "\n",
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [read_line(line) for line in done.stdout.splitlines()]


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def train(call, variables, optimizer, x, wanted):
    losses = []
    for _ in range(STEPS):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(call(x) - wanted))
            scaled = optimizer.scale_loss(loss)
        if variables:
            optimizer.apply(tape.gradient(scaled, [v.value for v in variables]), variables)
        losses.append(float(loss))
    return np.array(losses, np.float32)


def residual_model():
    inputs = keras.Input((6,))
    h = inputs + keras.layers.Dense(6, activation="gelu")(inputs)
    h = keras.layers.LayerNormalization()(h)
    return keras.Model(inputs, keras.layers.Dense(2, activation="softmax")(h))


def mixed_precision_model():
    half = {"dtype": "mixed_bfloat16"}
    return keras.Sequential([
        keras.Input((3,)), L.Dense(6, activation="relu", **half), L.LayerNormalization(**half),
        L.Dense(2, **half), L.Activation("linear", dtype="float32"),
    ])  # fmt: skip


L = keras.layers
LAYERS = {
    "dense": (lambda: L.Dense(5, activation="relu"), (4, 3)),
    "dense_plain": (lambda: L.Dense(5, use_bias=False), (2, 4, 3)),
    "conv1d": (lambda: L.Conv1D(4, 3, padding="causal"), (2, 7, 3)),
    "conv2d": (lambda: L.Conv2D(4, 3, strides=2, padding="same"), (2, 5, 6, 3)),
    "conv2d_groups": (lambda: L.Conv2D(4, (3, 2), groups=2), (2, 5, 6, 4)),
    "conv1d_dilated": (
        lambda: L.Conv1D(4, 3, padding="same", dilation_rate=2, use_bias=False), (2, 7, 3)
    ),
    "conv3d": (lambda: L.Conv3D(2, 2, activation="tanh"), (2, 3, 4, 3, 2)),
    "conv1d_transpose": (lambda: L.Conv1DTranspose(3, 3, strides=2), (2, 4, 2)),
    "conv2d_transpose": (
        lambda: L.Conv2DTranspose(3, 3, strides=2, padding="same"), (2, 3, 4, 2)
    ),
    "conv3d_transpose": (lambda: L.Conv3DTranspose(2, 2), (2, 2, 3, 2, 2)),
    "conv3d_transpose_strides": (
        lambda: L.Conv3DTranspose(2, 3, strides=2, padding="same"), (2, 2, 3, 2, 2)
    ),
    "depthwise2d_strides": (lambda: L.DepthwiseConv2D(3, strides=2), (2, 5, 5, 3)),
    "depthwise1d": (lambda: L.DepthwiseConv1D(3), (2, 6, 3)),
    "depthwise2d": (
        lambda: L.DepthwiseConv2D(3, padding="same", depth_multiplier=2), (2, 5, 5, 3)
    ),
    "max_pooling2d": (lambda: L.MaxPooling2D(), (2, 5, 6, 3)),
    "max_pooling3d": (lambda: L.MaxPooling3D(), (2, 4, 4, 5, 2)),
    "average_pooling1d": (lambda: L.AveragePooling1D(2), (2, 5, 3)),
    "max_pooling1d": (lambda: L.MaxPooling1D(3, strides=1, padding="same"), (2, 5, 3)),
    "average_pooling2d": (lambda: L.AveragePooling2D((2, 3)), (2, 5, 6, 3)),
    "average_pooling3d": (lambda: L.AveragePooling3D(2, padding="same"), (2, 3, 4, 3, 2)),
    "global_average": (lambda: L.GlobalAveragePooling2D(), (2, 5, 6, 3)),
    "global_max": (lambda: L.GlobalMaxPooling1D(), (2, 5, 3)),
    "global_average1d": (lambda: L.GlobalAveragePooling1D(), (2, 5, 3)),
    "global_max3d": (lambda: L.GlobalMaxPooling3D(), (2, 3, 4, 3, 2)),
    "batch_norm_plain": (lambda: L.BatchNormalization(center=False, scale=False), (6, 3)),
    "batch_norm": (lambda: L.BatchNormalization(momentum=0.9), (4, 3, 3, 2)),
    "layer_norm": (lambda: L.LayerNormalization(), (4, 5)),
    "rms_norm": (lambda: L.RMSNormalization(), (4, 5)),
    "group_norm": (lambda: L.GroupNormalization(groups=2), (3, 4, 4, 6)),
    "group_norm_each": (lambda: L.GroupNormalization(groups=-1), (3, 4, 4, 6)),
    "lstm_plain": (
        lambda: L.LSTM(3, recurrent_activation="hard_sigmoid", use_bias=False), (2, 5, 4)
    ),
    "dropout_of_nothing": (lambda: L.Dropout(0.0), (4, 3)),
    "lstm": (lambda: L.LSTM(3), (2, 5, 4)),
    "lstm_sequences": (lambda: L.LSTM(3, return_sequences=True), (2, 5, 4)),
    "gru": (lambda: L.GRU(3), (2, 5, 4)),
    "gru_sequences": (lambda: L.GRU(3, return_sequences=True), (2, 5, 4)),
    "flatten": (lambda: L.Flatten(), (2, 3, 4)),
    "reshape": (lambda: L.Reshape((-1, 2)), (2, 3, 4)),
    "attention": (lambda: L.MultiHeadAttention(2, 3), (2, 5, 4)),
    "attention_masked": (
        lambda: L.MultiHeadAttention(2, 3, value_dim=2, output_shape=6, use_bias=False), (2, 5, 4)
    ),
    "embedding": (lambda: L.Embedding(7, 4), (2, 5)),
    "mixed_precision": (mixed_precision_model, (4, 3)),
    "sequential": (residual_model, (4, 6)),
}  # fmt: skip


def called(layer, x, training):
    if isinstance(layer, L.MultiHeadAttention):
        if layer.get_config()["value_dim"] == layer.get_config()["key_dim"]:
            return layer(x, x, use_causal_mask=True)
        near = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) <= 1
        return layer(x, x * 0.5, key=x * 2.0, attention_mask=np.stack([near, near]))
    return layer(x, training=training)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_trains_as_keras_does(name):
    make, shape = LAYERS[name]
    layer = make()
    x = numbers(*shape, seed=1)
    if name == "embedding":
        x = (np.abs(x) * 10).astype(np.int32) % 7
    first = called(layer, x, False)
    for i, weight in enumerate(layer.weights):
        # Away from the start, where zeros and ones would hide a mistake; variances stay positive.
        weight.assign(weight.numpy() + np.abs(numbers(*weight.shape, seed=10 + i)) * 0.3)
    wanted = numbers(*first.shape, seed=2)
    found = twin("layer", name, x, wanted, *(w.numpy() for w in layer.weights))
    losses = train(
        lambda x: called(layer, x, True), layer.trainable_weights,
        keras.optimizers.SGD(0.05), x, wanted,
    )  # fmt: skip
    np.testing.assert_allclose(found[0], losses, **CLOSE)
    np.testing.assert_allclose(found[1], called(layer, x, False).numpy(), **CLOSE)
    assert len(found) == 2 + len(layer.weights)
    for mine, weight in zip(found[2:], layer.weights, strict=True):
        np.testing.assert_allclose(mine, weight.numpy(), err_msg=weight.path, **CLOSE)


def probabilities(*shape, seed):
    raw = np.exp(numbers(*shape, seed=seed))
    return raw / raw.sum(-1, keepdims=True)


LABELS = np.array([0, 2, 1, 3, 3, 0], np.int32)
ONE_HOT = np.eye(4, dtype=np.float32)[LABELS]
WEIGHTS = np.array([1.0, 0.5, 2.0, 0.0, 1.0, 3.0], np.float32)
REAL = (np.abs(numbers(6, 4, seed=3)) + 0.1, np.abs(numbers(6, 4, seed=4)) + 0.1)
BITS = (ONE_HOT, probabilities(6, 4, seed=5))
LOGITS = (ONE_HOT, numbers(6, 4, seed=6))
Losses = keras.losses
LOSSES = {
    "MeanSquaredError": (Losses.MeanSquaredError(), REAL),
    "MeanAbsoluteError": (Losses.MeanAbsoluteError(), REAL),
    "MeanAbsolutePercentageError": (Losses.MeanAbsolutePercentageError(), REAL),
    "MeanSquaredLogarithmicError": (Losses.MeanSquaredLogarithmicError(), REAL),
    "Huber": (Losses.Huber(0.3), REAL),
    "LogCosh": (Losses.LogCosh(), REAL),
    "CosineSimilarity": (Losses.CosineSimilarity(), REAL),
    "KLDivergence": (Losses.KLDivergence(), BITS),
    "Poisson": (Losses.Poisson(), REAL),
    "Hinge": (Losses.Hinge(), LOGITS),
    "SquaredHinge": (Losses.SquaredHinge(), LOGITS),
    "CategoricalHinge": (Losses.CategoricalHinge(), LOGITS),
    "BinaryCrossentropy": (Losses.BinaryCrossentropy(label_smoothing=0.1), BITS),
    "BinaryCrossentropy logits": (Losses.BinaryCrossentropy(from_logits=True), LOGITS),
    "CategoricalCrossentropy": (Losses.CategoricalCrossentropy(label_smoothing=0.1), BITS),
    "CategoricalCrossentropy logits": (Losses.CategoricalCrossentropy(from_logits=True), LOGITS),
    "SparseCategoricalCrossentropy": (Losses.SparseCategoricalCrossentropy(), (LABELS, BITS[1])),
    "SparseCategoricalCrossentropy logits": (
        Losses.SparseCategoricalCrossentropy(from_logits=True), (LABELS, LOGITS[1])
    ),
}  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_and_its_gradient_are_keras(name, weighted):
    loss, given = LOSSES[name]
    weights = (WEIGHTS,) if weighted else ()
    predicted = tf.constant(given[1])
    with tf.GradientTape() as tape:
        tape.watch(predicted)
        value = loss(given[0], predicted, *weights)
    found = twin("loss", name, *given, *weights)
    np.testing.assert_allclose(found[0], value.numpy(), **CLOSE)
    np.testing.assert_allclose(found[1], tape.gradient(value, predicted).numpy(), **CLOSE)


def activation_before(name):
    """What makes predictions such as the loss wants them."""
    if "logits" in name or "Hinge" in name:
        return "linear"
    # Of softmax Keras hands on what went into it, which its binary cross-entropy takes for a
    # sigmoid's.
    if "Binary" in name:
        return "sigmoid"
    return "softmax" if "Categorical" in name or name == "KLDivergence" else "softplus"


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_trains_as_keras_does(name, weighted):
    loss, given = LOSSES[name]
    activation = activation_before(name)
    layer = L.Dense(4, activation=activation)
    layer.build((None, 3))
    x, weights = numbers(6, 3, seed=7), (WEIGHTS,) if weighted else ()
    start = [w.numpy() for w in layer.weights]
    found = twin(f"train {activation}", name, x, given[0], *start, *weights)
    optimizer, losses = keras.optimizers.SGD(0.05), []
    for _ in range(STEPS):
        with tf.GradientTape() as tape:
            value = loss(given[0], layer(x), *weights)
        gradients = tape.gradient(value, [w.value for w in layer.trainable_weights])
        optimizer.apply(gradients, layer.trainable_weights)
        losses.append(float(value))
    np.testing.assert_allclose(found[0], losses, **CLOSE)
    for mine, weight in zip(found[1:], layer.weights, strict=True):
        np.testing.assert_allclose(mine, weight.numpy(), **CLOSE)


ACTIVATIONS = [
    "linear", "relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "swish", "sigmoid",
    "log_sigmoid", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "hard_shrink",
    "soft_shrink", "tanh_shrink", "celu", "tanh", "softmax", "log_softmax", "softplus", "softsign",
    "mish", "exponential", "squareplus", "sparse_sigmoid", "sparse_plus", "glu",
]  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_and_its_gradient_are_keras(name):
    x = tf.constant(numbers(5, 4, seed=3) * 2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = keras.activations.get(name)(x)
        total = tf.reduce_sum(tf.square(y))
    found = twin("activation", name, x.numpy())
    np.testing.assert_allclose(found[0], y, **CLOSE)
    np.testing.assert_allclose(found[1], tape.gradient(total, x), **CLOSE)


Metrics = keras.metrics
METRICS = {
    "Accuracy": (Metrics.Accuracy, (LABELS[:, None], np.array([[0], [2], [0], [3], [1], [0]]))),
    "BinaryAccuracy": (Metrics.BinaryAccuracy, BITS),
    "CategoricalAccuracy": (Metrics.CategoricalAccuracy, BITS),
    "SparseCategoricalAccuracy": (Metrics.SparseCategoricalAccuracy, (LABELS, BITS[1])),
    "SparseTopKCategoricalAccuracy": (
        lambda: Metrics.SparseTopKCategoricalAccuracy(2), (LABELS, BITS[1])
    ),
    "TopKCategoricalAccuracy": (lambda: Metrics.TopKCategoricalAccuracy(2), BITS),
    "MeanSquaredError": (Metrics.MeanSquaredError, REAL),
    "MeanAbsoluteError": (Metrics.MeanAbsoluteError, REAL),
    "MeanAbsolutePercentageError": (Metrics.MeanAbsolutePercentageError, REAL),
    "MeanSquaredLogarithmicError": (Metrics.MeanSquaredLogarithmicError, REAL),
    "LogCoshError": (Metrics.LogCoshError, REAL),
    "CosineSimilarity": (Metrics.CosineSimilarity, REAL),
    "KLDivergence": (Metrics.KLDivergence, BITS),
    "Poisson": (Metrics.Poisson, REAL),
    "Hinge": (Metrics.Hinge, LOGITS),
    "SquaredHinge": (Metrics.SquaredHinge, LOGITS),
    "CategoricalHinge": (Metrics.CategoricalHinge, LOGITS),
    "BinaryCrossentropy": (lambda: Metrics.BinaryCrossentropy(label_smoothing=0.1), BITS),
    "CategoricalCrossentropy": (
        lambda: Metrics.CategoricalCrossentropy(from_logits=True), LOGITS
    ),
    "SparseCategoricalCrossentropy": (Metrics.SparseCategoricalCrossentropy, (LABELS, BITS[1])),
    "AUC": (Metrics.AUC, BITS),
    "AUC of 11": (lambda: Metrics.AUC(11), BITS),
    "RootMeanSquaredError": (Metrics.RootMeanSquaredError, REAL),
    "Precision": (Metrics.Precision, BITS),
    "Recall": (Metrics.Recall, BITS),
}  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", METRICS)
def test_a_metric_watches_as_keras_does(name, weighted):
    make, (labels, predicted) = METRICS[name]
    weights = (WEIGHTS,) if weighted else ()
    found = twin("metric", name, labels, predicted, *weights)
    metric, wanted = make(), []
    # Predictions drift from step to step, as in run_metric of the twin.
    drift = np.zeros_like(predicted)
    is_real = np.asarray(predicted).dtype == np.float32
    for _ in range(STEPS):
        metric.update_state(labels, predicted * (1 + drift) if is_real else predicted, *weights)
        if is_real and labels.ndim == predicted.ndim:
            drift = drift + (np.float32(0.01) * labels.astype(np.float32) + np.float32(0.005))
        elif is_real:
            drift = drift + np.float32(0.01) * predicted
        wanted.append(float(metric.result()))
    metric.reset_state()
    wanted.append(float(metric.result()))
    np.testing.assert_allclose(found, wanted, **CLOSE)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_metric_mean_is_keras(weighted):
    values = numbers(6, 4, seed=8)
    given = (WEIGHTS,) if weighted else ()
    metric = Metrics.Mean()
    metric.update_state(values, *given)
    np.testing.assert_allclose(
        twin("metric", "Mean", values, values, *given)[0], metric.result(), **CLOSE
    )


Optimizers, Schedules = keras.optimizers, keras.optimizers.schedules
OPTIMIZERS = {
    "sgd": lambda: Optimizers.SGD(),
    "momentum": lambda: Optimizers.SGD(momentum=0.9),
    "nesterov": lambda: Optimizers.SGD(momentum=0.9, nesterov=True),
    "adam": lambda: Optimizers.Adam(),
    "amsgrad": lambda: Optimizers.Adam(0.01, amsgrad=True),
    "adamw": lambda: Optimizers.AdamW(0.01),
    "rmsprop": lambda: Optimizers.RMSprop(),
    "rmsprop_centered": lambda: Optimizers.RMSprop(momentum=0.5, centered=True),
    "adagrad": lambda: Optimizers.Adagrad(),
    "lion": lambda: Optimizers.Lion(),
    "adafactor": lambda: Optimizers.Adafactor(),
    "clipnorm": lambda: Optimizers.SGD(clipnorm=0.05),
    "global_clipnorm": lambda: Optimizers.SGD(global_clipnorm=0.05),
    "clipvalue": lambda: Optimizers.SGD(clipvalue=0.01),
    "accumulate": lambda: Optimizers.Adam(gradient_accumulation_steps=3),
    "scaled": lambda: Optimizers.SGD(loss_scale_factor=8),
    "dynamic_scale": lambda: Optimizers.LossScaleOptimizer(
        Optimizers.SGD(), initial_scale=8, dynamic_growth_steps=6
    ),
    "momentum_class": lambda: Optimizers.SGD(momentum=0.9),
    "ema": lambda: Optimizers.SGD(use_ema=True, ema_momentum=0.8),
    "exponential": lambda: Optimizers.SGD(Schedules.ExponentialDecay(0.1, 5, 0.5, staircase=True)),
    "inverse_time": lambda: Optimizers.SGD(Schedules.InverseTimeDecay(0.1, 5, 0.5)),
    "polynomial": lambda: Optimizers.SGD(Schedules.PolynomialDecay(0.1, 10, power=2)),
    "piecewise": lambda: Optimizers.SGD(Schedules.PiecewiseConstantDecay([5, 9], [0.1, 0.05, 0.2])),
    "cosine": lambda: Optimizers.SGD(
        Schedules.CosineDecay(0.01, 12, alpha=0.1, warmup_target=0.1, warmup_steps=4)
    ),
}  # fmt: skip


def small_model():
    layer = L.Dense(3)
    layer.build((None, 4))
    return layer, numbers(8, 4, seed=1), numbers(8, 3, seed=2)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_steps_as_keras_does(name):
    layer, x, wanted = small_model()
    found = twin("optimizer", name, x, wanted, *(w.numpy() for w in layer.weights))
    optimizer = OPTIMIZERS[name]()
    losses = train(layer, layer.trainable_weights, optimizer, x, wanted)
    np.testing.assert_allclose(found[0], losses, **CLOSE)
    for mine, weight in zip(found[1:3], layer.weights, strict=True):
        np.testing.assert_allclose(mine, weight.numpy(), **CLOSE)
    np.testing.assert_allclose(found[3], float(optimizer.learning_rate), **CLOSE)


def test_exponential_averages_are_keras():
    layer, x, wanted = small_model()
    found = twin("average", "ema", x, wanted, *(w.numpy() for w in layer.weights))
    optimizer = OPTIMIZERS["ema"]()
    train(layer, layer.trainable_weights, optimizer, x, wanted)
    optimizer.finalize_variable_values(layer.trainable_weights)
    for mine, weight in zip(found, layer.weights, strict=True):
        np.testing.assert_allclose(mine, weight.numpy(), **CLOSE)


# --- what is drawn --------------------------------------------------------------------------------


def largest_gap(a, b):
    """Between the shares of numbers up to each number: what Kolmogorov and Smirnov look at."""
    both = np.concatenate([a, b])
    shares = [np.searchsorted(np.sort(x), both, side="right") / len(x) for x in (a, b)]
    return np.abs(shares[0] - shares[1]).max()


INITIALIZERS = ("glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "lecun_uniform",
                "lecun_normal", "random_uniform", "random_normal", "truncated_normal",
                "orthogonal")  # fmt: skip
SIZES = {"matrix": (60, 90), "filters": (3, 3, 20, 30), "wide": (4, 1500)}


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", INITIALIZERS)
def test_an_initializer_draws_from_the_distribution_of_keras(name, sizes):
    shape = SIZES[sizes]
    (drawn,) = twin("initializer", name, np.array(shape, np.int32))
    made = keras.initializers.get(name)
    made.seed = 11
    wanted = np.asarray(made(shape))
    assert drawn.shape == wanted.shape
    count, (a, b) = drawn.size, (drawn.ravel(), wanted.ravel())
    # One in a thousand pairs of draws from one distribution is farther apart.
    assert largest_gap(a, b) < 1.95 * np.sqrt(2 / count)
    deviation = wanted.std()
    assert abs(a.mean() - b.mean()) < 4 * deviation * np.sqrt(2 / count)
    np.testing.assert_allclose(a.std(), deviation, rtol=4 / np.sqrt(count))
    if name.endswith("uniform") or "normal" in name and name != "random_normal":
        # Nearly as far out as Keras's, and never where Keras's cannot be.
        np.testing.assert_allclose([a.min(), a.max()], [b.min(), b.max()], rtol=0.02)
    if name == "orthogonal":
        rows = drawn.reshape(-1, shape[-1])
        rows = rows if rows.shape[0] <= rows.shape[1] else rows.T
        np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=2e-5)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_dropout_keeps_as_much_as_keras_and_scales_it_alike(rate):
    x = 1 + np.abs(numbers(100, 120))
    y, dx, traced, traced_dx = twin("dropout", str(rate), x)
    with tf.GradientTape() as tape:
        given = tf.constant(x)
        tape.watch(given)
        keras_y = keras.layers.Dropout(rate, seed=3)(given, training=True)
    keras_dx = tape.gradient(keras_y, given).numpy()
    keras_y, far = keras_y.numpy(), 4 * np.sqrt(rate * (1 - rate) * 2 / x.size)
    assert not np.array_equal(y, traced)  # each step draws anew
    for made, gradient in ((y, dx), (traced, traced_dx)):
        kept = made != 0
        assert abs(kept.mean() - (keras_y != 0).mean()) < far
        # By columns and by rows alike: nothing but chance says what is kept.
        for axis in (0, 1):
            shares = kept.mean(axis)
            np.testing.assert_allclose(
                shares.std(), np.sqrt(rate * (1 - rate) / x.shape[axis]), rtol=0.35
            )
        np.testing.assert_allclose(made[kept], (x / (1 - rate))[kept], rtol=1e-6)
        np.testing.assert_allclose(gradient, np.where(kept, 1 / (1 - rate), 0), rtol=1e-6)
        np.testing.assert_allclose(np.unique(gradient), np.unique(keras_dx), rtol=1e-6)
        np.testing.assert_allclose(made.mean(), keras_y.mean(), atol=far * x.mean() / (1 - rate))
        np.testing.assert_allclose(made.std(), keras_y.std(), rtol=0.05)
