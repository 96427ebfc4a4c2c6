"""C++ reads what Keras saved, trains as Model.fit does, and writes what Python loads."""

import importlib.util
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tidemark as tf

if importlib.util.find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)

from test_cpp_keras import CLOSE, L, keras, line_of, numbers, read_line

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "build" / "keras_files"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="build/keras_files is not built")


def call(kind, what, *tensors):
    lines = "".join(line_of(t) + "\n" for t in tensors)
    return subprocess.run(
        [PROGRAM, kind, what], input=lines, capture_output=True, text=True, timeout=120
    )


def found(kind, what, *tensors):
    done = call(kind, what, *tensors)
    assert done.returncode == 0, done.stderr
    return [read_line(line) for line in done.stdout.splitlines()]


def moved(model):
    """Away from the start, where zeros and ones would hide a mistake."""
    for i, weight in enumerate(model.weights):
        weight.assign(weight.numpy() + np.abs(numbers(*weight.shape, seed=10 + i)) * 0.3)
    return model


def pictures():
    return keras.Sequential([
        keras.Input((8, 8, 2)), L.Rescaling(0.5, offset=0.1), L.ZeroPadding2D(1),
        L.Conv2D(4, 3, strides=2, activation="relu"), L.BatchNormalization(),
        L.DepthwiseConv2D(3, padding="same"), L.ReLU(max_value=6), L.Conv2DTranspose(3, 2),
        L.MaxPooling2D(2, padding="same"), L.GroupNormalization(groups=3), L.Dropout(0.5),
        L.Flatten(), L.Dense(3), L.Softmax(),
    ])  # fmt: skip


def branches():
    x = keras.Input((5, 4))
    h = L.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True)
    h = L.LayerNormalization()(L.Add()([h, x]))
    shared = L.Dense(4, activation="gelu", name="shared")
    both = L.Concatenate()([shared(h), shared(x)])
    inner = keras.Sequential([L.Dense(6, activation="tanh"), L.RMSNormalization()], name="inner")
    long, short = L.LSTM(3, return_sequences=True)(inner(both)), L.GRU(3)(both)
    h = L.Multiply()([L.GlobalAveragePooling1D()(long), short])
    return keras.Model(x, L.Dense(2, name="head")(L.Activation("relu")(h)))


def old_sequential():
    model = keras.Sequential([L.Conv1D(3, 2, padding="causal"), L.AveragePooling1D(2), L.Flatten(),
                              L.Reshape((2, 3)), L.GlobalMaxPooling1D()])  # fmt: skip
    model(np.zeros((1, 4, 2), np.float32))
    return model


MODELS = {
    "pictures": (pictures, (2, 8, 8, 2)),
    "branches": (branches, (3, 5, 4)),
    "no input layer": (old_sequential, (2, 4, 2)),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_keras_is_loaded(tmp_path, name):
    make, shape = MODELS[name]
    model = moved(make())
    path = tmp_path / "model.keras"
    model.save(path)
    x = numbers(*shape, seed=1)
    np.testing.assert_allclose(found("model", path, x)[0], model(x, training=False), **CLOSE)


def test_weights_go_into_modules_by_place_and_by_name(tmp_path):
    path = tmp_path / "a.weights.h5"
    L.Dense(1)  # so that Keras's own names do not begin at dense
    model = moved(keras.Sequential([keras.Input((4,)), L.Dense(5, activation="relu"), L.Dense(3)]))
    model.save_weights(path)
    x = numbers(2, 4, seed=1)
    np.testing.assert_allclose(found("weights", path, x)[0], model(x), **CLOSE)
    words = keras.Input((6,), dtype="int32")
    h = L.LSTM(3, name="reader")(L.Embedding(7, 4, name="words")(words))
    tagger = moved(keras.Model(words, L.Dense(2, name="tag")(h)))
    tagger.save_weights(path)
    ids = np.arange(12, dtype=np.int32).reshape(2, 6) % 7
    np.testing.assert_allclose(found("weights", path, ids)[0], tagger(ids), **CLOSE)


def test_what_cannot_be_loaded_says_why(tmp_path):
    x = numbers(2, 4, seed=1)
    path = tmp_path / "m.keras"
    keras.Sequential([keras.Input((4,)), L.UnitNormalization(name="unit")]).save(path)
    assert 'the layer "unit" (UnitNormalization)' in call("model", path, x).stderr
    keras.Sequential([keras.Input((4,)), L.Dense(5), L.Dense(4)]).save(path)
    assert "nothing was loaded" in call("weights", path, x).stderr
    assert call("model", tmp_path / "none.keras", x).returncode == 3


def test_damaged_files_are_refused(tmp_path):
    path, damaged = tmp_path / "m.keras", tmp_path / "damaged.keras"
    model = keras.Sequential([keras.Input((4,)), L.Dense(5), L.Dense(3)])
    model.save(path)
    whole = path.read_bytes()
    x = numbers(2, 4, seed=1)
    random = np.random.default_rng(0)
    for size in random.integers(0, len(whole), 12):
        damaged.write_bytes(whole[:size])
        assert call("model", damaged, x).returncode == 3
    start = whole.index(b"\x89HDF")
    for at in start + random.integers(0, 4000, 40):
        damaged.write_bytes(whole[:at] + random.bytes(8) + whole[at + 8 :])
        assert call("model", damaged, x).returncode in (0, 3)  # a weight may be another number


def test_folders_of_pictures_are_read_as_keras_reads_them(tmp_path):
    random = np.random.default_rng(0)
    for name in ("cats/b.png", "cats/a.PNG", "dogs/x.jpg", "empty/note.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pixels = random.integers(0, 256, (7, 4, 3), dtype=np.uint8)
        encode = tf.io.encode_jpeg if name.endswith("jpg") else tf.io.encode_png
        (tmp_path / name).write_bytes(encode(pixels).numpy())
    done = call("images", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.split() == ["cats", "dogs", "empty"]
    pictures, classes = map(read_line, done.stdout.splitlines())
    wanted = keras.utils.image_dataset_from_directory(
        tmp_path, image_size=(6, 5), batch_size=100, shuffle=False, verbose=False
    )
    ((wanted_pictures, wanted_classes),) = list(wanted)
    np.testing.assert_array_equal(classes, wanted_classes)
    np.testing.assert_allclose(pictures, wanted_pictures, rtol=1e-5, atol=1e-3)
    (tmp_path / "cats" / "c.png").write_bytes(b"no picture")
    assert call("images", tmp_path).returncode == 3
    assert "no folders with pictures" in call("images", tmp_path / "empty").stderr
    assert call("images", tmp_path / "nowhere").returncode == 3


def test_fit_trains_as_keras_does():
    model = moved(keras.Sequential([keras.Input((4,)), L.Dense(5, activation="relu"), L.Dense(3)]))
    x = numbers(20, 4, seed=1)  # the last batch has four rows
    y = (np.abs(numbers(20, seed=2)) * 10).astype(np.int32) % 3
    mine = found("fit", "3", x, y, *(w.numpy() for w in model.weights))
    model.compile(
        keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )  # fmt: skip
    history = model.fit(
        x, y, batch_size=8, epochs=3, shuffle=False, verbose=0, validation_data=(x[:8], y[:8])
    ).history
    names = ["loss", "accuracy", "val_loss", "val_accuracy"]
    for found_values, name in zip(mine, names, strict=False):
        np.testing.assert_allclose(found_values, history[name], err_msg=name, **CLOSE)
    for value, weight in zip(mine[4:], model.weights, strict=True):
        np.testing.assert_allclose(value, weight.numpy(), **CLOSE)


def test_python_loads_what_c_plus_plus_saved(tmp_path):
    folder, prefix = tmp_path / "model" / "1", tmp_path / "ckpt-1"
    (wanted,) = found("save", folder)
    run = tf.saved_model.load(str(folder)).signatures["serving_default"]
    np.testing.assert_allclose(run(x=tf.ones((2, 4)))["y"], wanted, **CLOSE)

    (wanted,) = found("checkpoint", prefix)
    dense = [tf.Module(), tf.Module()]
    for module, shape in zip(dense, [(4, 5), (5, 3)], strict=True):
        module.kernel, module.bias = tf.Variable(tf.zeros(shape)), tf.Variable(tf.zeros(shape[1]))
    model = tf.Module()
    model.dense, model.dense_1 = dense
    step = tf.Variable(0, dtype=tf.int64)
    tf.train.Checkpoint(model=model, step=step).read(str(prefix)).assert_consumed()
    h = tf.nn.relu(tf.ones((2, 4)) @ dense[0].kernel + dense[0].bias)
    np.testing.assert_allclose(h @ dense[1].kernel + dense[1].bias, wanted, **CLOSE)
    assert step.numpy() == 7


KERAS_2 = Path(__file__).parent / "data" / "keras2"


def keras_2_results(name):
    told = json.loads((KERAS_2 / "results.json").read_text())[name]
    dtype = np.int32 if name == "recurrent" else np.float32
    return [np.array(value, dtype) for value in told["inputs"]], np.array(told["outputs"])


@pytest.mark.parametrize("name", ["sequential", "functional", "recurrent"])
def test_models_of_keras_2_are_loaded(name):
    inputs, outputs = keras_2_results(name)
    np.testing.assert_allclose(found("model", KERAS_2 / f"{name}.h5", *inputs)[0], outputs, **CLOSE)
    refused = call("model", KERAS_2 / f"{name}_weights.h5", *inputs)
    assert "weights alone" in refused.stderr


@pytest.mark.parametrize("name", ["sequential", "functional"])
def test_models_of_keras_2_are_loaded_by_keras(name):
    inputs, outputs = keras_2_results(name)
    model = keras.models.load_model(KERAS_2 / f"{name}.h5", compile=False)
    given = inputs if len(inputs) > 1 else inputs[0]
    np.testing.assert_allclose(model(given), outputs, **CLOSE)
    for weight in model.weights:
        weight.assign(weight * 0)
    model.load_weights(KERAS_2 / f"{name}_weights.h5")
    np.testing.assert_allclose(model(given), outputs, **CLOSE)
