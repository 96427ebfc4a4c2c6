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


L = keras.layers
LAYERS = {
    "dense": (lambda: L.Dense(5, activation="relu"), (4, 3)),
    "dense_plain": (lambda: L.Dense(5, use_bias=False), (2, 4, 3)),
    "conv1d": (lambda: L.Conv1D(4, 3, padding="causal"), (2, 7, 3)),
    "conv2d": (lambda: L.Conv2D(4, 3, strides=2, padding="same"), (2, 5, 6, 3)),
    "conv2d_groups": (lambda: L.Conv2D(4, (3, 2), groups=2), (2, 5, 6, 4)),
    "conv3d": (lambda: L.Conv3D(2, 2, activation="tanh"), (2, 3, 4, 3, 2)),
    "conv1d_transpose": (lambda: L.Conv1DTranspose(3, 3, strides=2), (2, 4, 2)),
    "conv2d_transpose": (
        lambda: L.Conv2DTranspose(3, 3, strides=2, padding="same"), (2, 3, 4, 2)
    ),
    "conv3d_transpose": (lambda: L.Conv3DTranspose(2, 2), (2, 2, 3, 2, 2)),
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
    "batch_norm": (lambda: L.BatchNormalization(momentum=0.9), (4, 3, 3, 2)),
    "layer_norm": (lambda: L.LayerNormalization(), (4, 5)),
    "rms_norm": (lambda: L.RMSNormalization(), (4, 5)),
    "group_norm": (lambda: L.GroupNormalization(groups=2), (3, 4, 4, 6)),
    "lstm": (lambda: L.LSTM(3), (2, 5, 4)),
    "lstm_sequences": (lambda: L.LSTM(3, return_sequences=True), (2, 5, 4)),
    "gru": (lambda: L.GRU(3), (2, 5, 4)),
    "gru_sequences": (lambda: L.GRU(3, return_sequences=True), (2, 5, 4)),
    "flatten": (lambda: L.Flatten(), (2, 3, 4)),
    "reshape": (lambda: L.Reshape((-1, 2)), (2, 3, 4)),
    "attention": (lambda: L.MultiHeadAttention(2, 3), (2, 5, 4)),
    "embedding": (lambda: L.Embedding(7, 4), (2, 5)),
    "sequential": (residual_model, (4, 6)),
}  # fmt: skip


def called(layer, x, training):
    if isinstance(layer, L.MultiHeadAttention):
        return layer(x, x, use_causal_mask=True)
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


Metrics = keras.metrics
METRICS = {
    "Accuracy": (Metrics.Accuracy, (LABELS[:, None], np.array([[0], [2], [0], [3], [1], [0]]))),
    "BinaryAccuracy": (Metrics.BinaryAccuracy, BITS),
    "CategoricalAccuracy": (Metrics.CategoricalAccuracy, BITS),
    "SparseCategoricalAccuracy": (Metrics.SparseCategoricalAccuracy, (LABELS, BITS[1])),
    "SparseTopKCategoricalAccuracy": (
        lambda: Metrics.SparseTopKCategoricalAccuracy(2), (LABELS, BITS[1])
    ),
    "MeanSquaredError": (Metrics.MeanSquaredError, REAL),
    "MeanAbsoluteError": (Metrics.MeanAbsoluteError, REAL),
    "RootMeanSquaredError": (Metrics.RootMeanSquaredError, REAL),
    "Precision": (Metrics.Precision, BITS),
    "Recall": (Metrics.Recall, BITS),
}  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_keras(name, weighted):
    make, given = METRICS[name]
    given = (*given, WEIGHTS) if weighted else given
    metric, wanted = make(), []
    for rows in (slice(0, 3), slice(3, 6)):
        metric.update_state(*(part[rows] for part in given))
        wanted.append(float(metric.result()))
    metric.reset_state()
    wanted.append(float(metric.result()))
    np.testing.assert_allclose(twin("metric", name, *given), wanted, **CLOSE)


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
