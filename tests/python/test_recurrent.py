"""cuDNN's recurrent operations, which Keras calls where there is a GPU, against Keras's loops."""

import numpy as np
import pytest
from tidemark._tensorflow.raw import recurrent
from tidemark.config import _devices

import tidemark as tf

keras = pytest.importorskip("keras")
LAYERS = {"lstm": keras.layers.LSTM, "gru": keras.layers.GRU}
LENGTHS = np.array([7, 3, 5, 1])


@pytest.fixture
def gpu_is_listed(monkeypatch):
    """Programs are told of a GPU; what they ask of it is computed where they run."""
    monkeypatch.setattr(_devices, "is_built_with_cuda", lambda: True)
    listed = [_devices.PhysicalDevice("/physical_device:GPU:0", "GPU")]
    for name in ("list_physical_devices", "list_logical_devices"):
        monkeypatch.setattr(tf.config, name, lambda kind=None: listed)


def values(shape, seed):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def outputs_and_gradients(layer, x, mask=None):
    layer.build(x.shape)
    for number, weight in enumerate(layer.trainable_weights):
        weight.assign(values(weight.shape, number))
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        results = layer(x, mask=mask)
        # Steps behind the end of a row are zeros there and repeat the state here.
        alive = 1.0 if mask is None else tf.cast(mask, x.dtype)[..., None]
        seen = [results[0] * alive, *results[1:]]
        loss = tf.add_n([tf.reduce_sum(tf.sin(one)) for one in seen])
    return [*seen, *tape.gradient(loss, [x, *[w.value for w in layer.trainable_weights]])]


@pytest.mark.parametrize("masked", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("mode", LAYERS)
def test_results_are_those_of_keras_loops(mode, backwards, masked, gpu_is_listed):
    x = values((4, 7, 3), 9)
    mask = np.arange(7)[None] < LENGTHS[:, None] if masked else None
    if masked and backwards:
        pytest.skip("Keras's loops put the steps of shorter rows elsewhere")

    def results(use_cudnn):
        layer = LAYERS[mode](
            5, return_sequences=True, return_state=True, go_backwards=backwards,
            use_cudnn=use_cudnn,
        )  # fmt: skip
        return outputs_and_gradients(layer, x, mask)

    for given, wanted in zip(results(True), results(False), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-4, atol=1e-5)


def test_a_model_trains_in_a_function(gpu_is_listed):
    model = keras.Sequential([keras.Input((None, 3)), keras.layers.LSTM(8), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.01), "mse")
    x = values((64, 6, 3), 1)
    losses = model.fit(x, x.sum((1, 2)), epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def numpy_simple(x, h, layers):
    """A network of tanh layers in both directions, step by step, in float64."""
    states = []
    for number, ways in enumerate(layers):
        outputs = []
        for way, (w, r, b, c) in enumerate(ways):
            state, seen = h[2 * number + way], []
            for row in x[:: -1 if way else 1]:
                state = np.tanh(row @ w.T + b + state @ r.T + c)
                seen.append(state)
            states.append(state)
            outputs.append(np.stack(seen[:: -1 if way else 1]))
        x = np.concatenate(outputs, -1)
    return x, np.stack(states)


def test_layers_in_both_directions(gpu_is_listed):
    layers, flat = [], ([], [])
    for columns in (3, 10):
        shapes = [(5, columns), (5, 5), (5,), (5,)]
        ways = [[values(s, 7 * k + columns) for s in shapes] for k in range(2)]
        layers.append(ways)
        for way in ways:
            flat[0].extend(one.ravel() for one in way[:2])
            flat[1].extend(way[2:])
    x, h = values((6, 2, 3), 1), values((4, 2, 5), 2)
    output, last, c, *_ = tf.raw_ops.CudnnRNNV3(
        input=x, input_h=h, input_c=0, params=np.concatenate([*flat[0], *flat[1]]),
        sequence_lengths=[6, 6], rnn_mode="rnn_tanh", direction="bidirectional",
    )  # fmt: skip
    wanted, wanted_last = numpy_simple(x.astype(float), h.astype(float), layers)
    np.testing.assert_allclose(output, wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(last, wanted_last, rtol=1e-4, atol=1e-5)
    assert c.shape == [0]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"num_proj": 2}, "no projections"),
        ({"dropout": 0.5}, "drop between layers"),
        ({"input_mode": "skip_input"}, "skip_input"),
        ({"rnn_mode": "other"}, "none of lstm, gru"),
    ],
)
def test_what_is_not_here_says_so(given, told, gpu_is_listed):
    x = np.zeros((1, 1, 1), "float32")
    with pytest.raises(tf.errors.UnimplementedError, match=told):
        tf.raw_ops.CudnnRNNV3(
            input=x, input_h=x, input_c=x, params=np.zeros(16, "float32"), sequence_lengths=[1],
            **given,
        )  # fmt: skip


def test_without_a_gpu_it_is_refused_as_tensorflow_does():
    assert set(recurrent.ON_GPUS) == {"CudnnRNN", "CudnnRNNV2", "CudnnRNNV3"}
    x = np.zeros((1, 1, 1), "float32")
    with pytest.raises(tf.errors.NotFoundError, match="no registered kernels"):
        tf.raw_ops.CudnnRNN(input=x, input_h=x, input_c=x, params=np.zeros(16, "float32"))
