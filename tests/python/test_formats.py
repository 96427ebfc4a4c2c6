"""``tidemark inspect`` and ``convert``: what files hold, and from one format to another."""

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest
from tidemark.cli import main

import tidemark as tf

DATA = Path(__file__).parent / "data"
TFLITE = {case["name"]: case for case in json.loads((DATA / "tflite_cases.json").read_text())}
TORCH = DATA / "weights" / "checkpoint.pt"


@pytest.fixture
def tflite(tmp_path):
    path = tmp_path / "net.tflite"
    path.write_bytes(zlib.decompress(base64.b64decode(TFLITE["separable_float"]["model"])))
    return path


def inspected(capsys, *words):
    status = main(["inspect", *map(str, words), "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_inspect_tells_of_a_model(tflite, capsys):
    status, seen = inspected(capsys, tflite, "--shape", "images=2,8,8,2")
    assert status == 0
    assert seen["format"] == "TFLite"
    (signature,) = seen["signatures"].values()
    assert signature["inputs"] == {"images": {"dtype": "float32", "shape": [None, 8, 8, 2]}}
    assert seen["ops"]["CONV_2D"] == 2
    assert seen["not_read"] == []
    assert seen["plan"]["peak"] > 2 * 6 * 6 * 4 * 4
    assert sum(one["elements"] for one in seen["layers"]) >= 2 * 9 + 2 * 4 * 2
    assert main(["inspect", str(tflite)]) == 0
    told = capsys.readouterr().out
    assert "signature serving_default" in told and "CONV_2D" in told
    assert "planned" not in told  # no sizes were given


def test_inspect_draws_the_graph(tflite, tmp_path, capsys):
    page = tmp_path / "net.html"
    assert main(["inspect", str(tflite), "--html", str(page)]) == 0
    text = page.read_text()
    assert "<svg" in text and "DEPTHWISE_CONV_2D" in text
    assert text.count("<rect") > 8


def test_inspect_lists_all_that_is_not_supported(tmp_path, capsys):
    # Nodes of two ops that nobody has, in the form of protocol buffers.
    def piece(field, data):
        return bytes([field << 3 | 2, len(data)]) + data

    def node(op):
        return piece(1, piece(1, b"x") + piece(2, op.lower()) + piece(4, op) + piece(7, b"acme"))

    graph = node(b"Whirl") + node(b"Twirl") + piece(2, b"g")
    path = tmp_path / "m.onnx"
    path.write_bytes(b"\x08\x08" + piece(7, graph) + piece(8, b"\x10\x12"))
    status, seen = inspected(capsys, path)
    assert status == 1
    assert len(seen["not_read"]) == 2
    assert "acme.Twirl" in seen["not_read"][0] and "acme.Whirl" in seen["not_read"][1]
    assert seen["ops"] == {"acme.Twirl": 1, "acme.Whirl": 1}


def test_inspect_tells_of_weights(capsys):
    status, seen = inspected(capsys, TORCH)
    assert status == 0
    assert seen["format"] == "torch"
    layers = {one["name"]: one for one in seen["layers"]}
    assert layers["model.a"]["elements"] == 3 * 2 + 2


def test_inspect_of_what_is_no_such_file(tmp_path, capsys):
    path = tmp_path / "m.bin"
    path.write_bytes(b"nothing of the kind")
    assert main(["inspect", str(path)]) == 2
    assert "no weights" in capsys.readouterr().err
    assert main(["inspect", str(tmp_path / "none.onnx")]) == 2


def outputs_of(path, images):
    name = "images"
    if path.suffix in (".onnx", ".tflite"):
        return next(iter(tf.onnx._model.Model(path)({name: images}).values()))
    loaded = tf.saved_model.load(path)
    return next(iter(loaded.signatures["serving_default"](images=tf.constant(images)).values()))


def test_convert_between_models(tflite, tmp_path, capsys):
    images = np.linspace(-1, 1, 3 * 8 * 8 * 2, dtype=np.float32).reshape(3, 8, 8, 2)
    wanted = outputs_of(tflite, images)
    road = [tflite, tmp_path / "net.onnx", tmp_path / "saved", tmp_path / "again.onnx"]
    for source, target in zip(road, road[1:], strict=False):
        assert main(["convert", str(source), str(target)]) == 0, capsys.readouterr().err
        np.testing.assert_allclose(outputs_of(target, images), wanted, atol=1e-5)


def test_convert_the_one_file_of_ours_to_what_tensorflow_reads(tmp_path):
    from tidemark.saved_model import _save
    from tidemark.saved_model._own_file import OwnFile

    class Scale(tf.Module):
        def __init__(self):
            self.w = tf.Variable([1.0, 2.0], name="w")

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def scale(self, x):
            return {"y": x * self.w}

    module = Scale()
    signatures = {"serving_default": module.scale, "again": module.scale}
    OwnFile(*_save._collected(module, signatures, None)).write(str(tmp_path / "own"))
    assert main(["convert", str(tmp_path / "own"), str(tmp_path / "theirs")]) == 0
    assert (tmp_path / "theirs" / "saved_model.pb").exists()
    loaded = tf.saved_model.load(tmp_path / "theirs")
    assert sorted(loaded.signatures) == ["again", "serving_default"]
    assert loaded.signatures["again"](x=tf.ones([1, 2]))["y"].numpy().tolist() == [[1.0, 2.0]]


def test_convert_between_weights(tmp_path, capsys):
    wanted = tf.weights.load(TORCH)
    road = [TORCH, *(tmp_path / f"w{end}" for end in (".safetensors", ".npz", ".index"))]
    for source, target in zip(road, road[1:], strict=False):
        assert main(["convert", str(source), str(target)]) == 0, capsys.readouterr().err
        tensors = tf.weights.load(target)
        assert set(tensors) == set(wanted)
        for name, value in wanted.items():
            np.testing.assert_array_equal(tensors[name], value)
    assert tf.train.load_checkpoint(str(tmp_path / "w")).get_tensor("model.a.bias").shape == (2,)


@pytest.fixture
def keras_files(tmp_path):
    """A model of one road and one of several, as .keras, .h5 and exported."""
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(2)
    plain = tf.keras.Sequential(
        [tf.keras.Input((6,), name="x"), layers.Dense(4, "relu", name="up"), layers.Dense(2)]
    )
    given = tf.keras.Input((6,), name="x")
    up = layers.Dense(4, name="up")(given)
    forked = tf.keras.Model(given, {"sum": layers.add([up, up]), "top": layers.Dense(1)(up)})
    for name, model in (("plain", plain), ("forked", forked)):
        model.save(tmp_path / f"{name}.keras")
        model.export(tmp_path / name, verbose=False)
    plain.save(tmp_path / "plain.h5")
    tf.train.Checkpoint(model=plain).write(str(tmp_path / "checkpoint"))
    return {"plain": plain, "forked": forked}


def test_inspect_tells_of_models_of_keras(keras_files, tmp_path, capsys):
    for name in ("plain.keras", "plain.h5"):
        status, seen = inspected(capsys, tmp_path / name, "--shape", "x=5,6")
        assert status == 0
        assert seen["format"] == "Keras"
        assert seen["ops"]["Dense"] == 2
        ports = seen["signatures"]["serving_default"]["inputs"]
        assert list(ports.values()) == [{"dtype": "float32", "shape": [None, 6]}]
        assert seen["plan"]["weights"] == 4 * (6 * 4 + 4 + 4 * 2 + 2)
        assert seen["plan"]["peak"] >= 5 * 4 * 4
    page = tmp_path / "net.html"
    assert main(["inspect", str(tmp_path / "forked.keras"), "--html", str(page)]) == 0
    assert "<svg" in page.read_text() and "Add" in capsys.readouterr().out


def test_inspect_names_layers_whose_code_is_elsewhere(tmp_path, capsys):
    @tf.keras.utils.register_keras_serializable("acme")
    class Twice(tf.keras.layers.Layer):
        def call(self, x):
            return x * 2

    model = tf.keras.Sequential(
        [tf.keras.Input((2,)), Twice(name="mine"), tf.keras.layers.Lambda(lambda x: x + 1)]
    )
    model.save(tmp_path / "m.keras")
    status, seen = inspected(capsys, tmp_path / "m.keras")
    assert status == 1
    assert [line.split("'")[1] for line in seen["not_read"]] == ["mine", "lambda"]


@pytest.mark.parametrize("name", ["plain.keras", "plain.h5", "forked.keras"])
def test_convert_models_of_keras(keras_files, name, tmp_path, capsys):
    x = np.linspace(-1, 1, 18, dtype=np.float32).reshape(3, 6)
    wanted = keras_files[name.partition(".")[0]](x)
    wanted = wanted if isinstance(wanted, dict) else {"output_0": wanted}
    for target in (tmp_path / "net.onnx", tmp_path / "saved"):
        assert main(["convert", str(tmp_path / name), str(target)]) == 0, capsys.readouterr().err
    loaded = tf.onnx.load(tmp_path / "net.onnx")
    assert [tuple(port.shape)[1:] for port in loaded.inputs] == [(6,)]
    saved = tf.saved_model.load(tmp_path / "saved").signatures["serving_default"]
    assert (tmp_path / "saved" / "saved_model.pb").exists()
    for made in (loaded.run_in_order([x]), list(saved(tf.constant(x)).values())):
        for got, value in zip(made, wanted.values(), strict=True):
            np.testing.assert_allclose(got, value, rtol=1e-5, atol=1e-6)


def test_weights_keep_their_names_in_onnx(keras_files, tmp_path, capsys):
    assert main(["convert", str(tmp_path / "plain.keras"), str(tmp_path / "m.onnx")]) == 0
    capsys.readouterr()
    _, seen = inspected(capsys, tmp_path / "m.onnx")
    names = [one["name"] for one in seen["parameters"]]
    assert sum("up/kernel" in name for name in names) == 1


@pytest.mark.parametrize("source", ["plain", "checkpoint", "checkpoint.index"])
@pytest.mark.parametrize("target", ["w.safetensors", "w.npz"])
def test_convert_leaves_out_what_is_no_weight(keras_files, source, target, tmp_path, capsys):
    assert main(["convert", str(tmp_path / source), str(tmp_path / target)]) == 0
    made = tf.weights.load(tmp_path / target)
    shapes = sorted(tuple(value.shape) for value in made.values())
    assert shapes == [(2,), (4,), (4, 2), (6, 4)]
    if source == "plain":  # a SavedModel's own keys are numbers
        assert any("up/kernel" in name for name in made)


def test_what_numpy_has_no_form_for_is_listed(tmp_path):
    tensors = {"t": tf.constant(["a"]), "n": tf.ones(2), "b": tf.ones(2, tf.bfloat16)}
    with pytest.raises(tf.errors.InvalidArgumentError, match="'t' of .*\n.*'b' of bfloat16"):
        tf.weights.save(tensors, tmp_path / "m.npz")
    assert not list(tmp_path.iterdir())


INTEGERS = {case["name"]: case for case in json.loads((DATA / "tflite_integers.json").read_text())}


@pytest.mark.parametrize("name", INTEGERS)
def test_convert_integer_models(name, tmp_path, capsys):
    path = tmp_path / "net.tflite"
    path.write_bytes(zlib.decompress(base64.b64decode(INTEGERS[name]["model"])))
    model = tf.lite.load(path)
    given = {}
    for port, record in zip(model.inputs, INTEGERS[name]["inputs"], strict=True):
        data = np.frombuffer(base64.b64decode(record["data"]), record["dtype"])
        given[port.name] = data.reshape(record["shape"])
    wanted = [np.asarray(value) for value in model(given).values()]
    for target in (tmp_path / "net.onnx", tmp_path / "saved"):
        assert main(["convert", str(path), str(target)]) == 0, capsys.readouterr().err
    assert (tmp_path / "saved" / "saved_model.pb").exists()
    saved = tf.saved_model.load(tmp_path / "saved").signatures["serving_default"]
    made = saved(**{key: tf.constant(value) for key, value in given.items()})
    for got in (tf.onnx.load(tmp_path / "net.onnx")(given), made):
        for value, whole in zip(got.values(), wanted, strict=True):
            np.testing.assert_array_equal(value, whole)


def test_convert_a_model_to_its_weights(tflite, tmp_path):
    assert main(["convert", str(tflite), str(tmp_path / "w.npz")]) == 0
    assert any(
        np.asarray(value).ndim == 4 for value in tf.weights.load(tmp_path / "w.npz").values()
    )


def test_convert_says_what_it_cannot_do(tflite, tmp_path, capsys):
    for source, target, words in (
        (TORCH, tmp_path / "m.onnx", "weights alone"),
        (tflite, tmp_path / "m.tflite", "not written"),
        (tflite, tmp_path / "m.pt", "not written"),
        (tflite, tmp_path / "m.strange", "--to takes one of"),
        (tmp_path / "none.onnx", tmp_path / "m.npz", "none.onnx"),
    ):
        assert main(["convert", str(source), str(target)]) == 2
        assert words in capsys.readouterr().err
    assert main(["convert", str(tflite), str(tmp_path / "o.onnx"), "--signature", "other"]) == 2
