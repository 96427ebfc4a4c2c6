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
