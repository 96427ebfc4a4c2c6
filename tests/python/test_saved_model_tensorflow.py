"""Models that TensorFlow saved: what it answered was recorded by tools/record_saved_models.py."""

from __future__ import annotations

import zipfile
from pathlib import Path

import flat
import numpy as np
import pytest
import saved_model_programs as programs

import tidemark as tf

DATA = Path(__file__).parent / "data/saved_models"


def unpacked(name, place):
    folder = place / name
    with zipfile.ZipFile(DATA / f"{name}.zip") as file:
        file.extractall(folder)
    return folder


def calls_of(name):
    """(signature, inputs, outputs) of each recorded call."""
    recorded = np.load(DATA / f"{name}.npz")
    for signature in sorted({key.split("/")[0] for key in recorded}):
        parts = {"in": {}, "out": {}}
        for key in recorded:
            at, kind, item = key.split("/")
            if at == signature:
                parts[kind][item] = recorded[key]
        yield signature, parts["in"], parts["out"]


def check(given, wanted):
    assert sorted(given) == sorted(wanted)
    for name, value in wanted.items():
        array = np.asarray(given[name])
        assert array.shape == value.shape, name
        if value.dtype.kind == "S":
            assert array.astype("S").tolist() == value.tolist(), name
        else:
            assert array.dtype == value.dtype, name
            np.testing.assert_allclose(array, value, rtol=2e-5, atol=2e-6, err_msg=name)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_signatures_answer_as_there(name, tmp_path):
    folder = unpacked(name, tmp_path)
    for signature, inputs, outputs in calls_of(name):
        model = tf.saved_model.load(str(folder))
        given = {key: tf.constant(value) for key, value in inputs.items()}
        made = model.signatures[signature](**given)
        check({key: value.numpy() for key, value in made.items()}, outputs)


def test_objects_are_callable(tmp_path):
    model = tf.saved_model.load(str(unpacked("objects", tmp_path)))
    assert [part.scale.numpy() for part in model.parts] == [2.0, 3.0]
    assert model.named["a"].scale.numpy() == 5.0
    x = tf.constant([1.0])
    assert model.parts[0](x).numpy() == [3.0]
    assert model.parts[0](x, training=True).numpy() == [2.0]
    assert model.parts[1](tf.constant(4.0), True).numpy() == 12.0
    result, more = model.run(tf.constant([1.0, 2.0]))
    np.testing.assert_array_equal(result, [6.0, 7.0])
    np.testing.assert_array_equal(more["last"], [30.0, 35.0])
    np.testing.assert_array_equal(model.count, [1, 2])
    np.testing.assert_array_equal(model.bump(tf.constant([3, 4]))["count"], [4, 6])
    np.testing.assert_array_equal(model.signatures["bump"](by=[1, 1])["count"], [5, 7])
    with pytest.raises(ValueError, match="Could not find a matching concrete function"):
        model.parts[0](tf.constant([1, 2]))


def test_gradients_reach_the_variables(tmp_path):
    model = tf.saved_model.load(str(unpacked("objects", tmp_path)))
    with tf.GradientTape() as tape:
        loss = model.parts[0](tf.constant([7.0]), training=True)
    assert tape.gradient(loss, model.parts[0].scale).numpy() == 7.0


def test_tables_are_filled_from_assets(tmp_path):
    model = tf.saved_model.load(str(unpacked("text", tmp_path)))
    assert [int(table.size()) for table in (model.table, model.names)] == [5, 3]


def test_a_layer_of_keras(tmp_path):
    folder = unpacked("mlp", tmp_path)
    _, inputs, outputs = next(calls_of("mlp"))
    layer = tf.keras.layers.TFSMLayer(str(folder), call_endpoint="serving_default")
    check({key: value.numpy() for key, value in layer(inputs["features"]).items()}, outputs)
    served = tf.keras.layers.TFSMLayer(str(folder), call_endpoint="serve")
    np.testing.assert_allclose(served(inputs["features"]), outputs["output_0"], rtol=2e-5)


def test_tags_choose_the_meta_graph(tmp_path):
    folder = str(unpacked("v1_loops", tmp_path))
    _, inputs, outputs = next(calls_of("v1_loops"))
    given = {key: tf.constant(value) for key, value in inputs.items()}
    model = tf.saved_model.load(folder, tags=["train"])
    scaled = model.signatures["serving_default"](**given)["y"]
    np.testing.assert_allclose(scaled, outputs["y"] * 100, rtol=2e-5)
    with pytest.raises(tf.errors.NotFoundError, match="'gpu'; there are: 'train'; 'serve'"):
        tf.saved_model.load(folder, tags=["gpu"])


def test_everything_unsupported_is_listed(tmp_path):
    folder = unpacked("mlp", tmp_path)
    path = folder / "saved_model.pb"
    changed = (
        path.read_bytes().replace(b"BiasAdd", b"Strange").replace(b"\x06MatMul", b"\x06Matrix")
    )
    path.write_bytes(changed)
    with pytest.raises(tf.errors.UnimplementedError) as error:
        tf.saved_model.load(str(folder))
    assert "needs 2 ops" in str(error.value)
    assert "Strange" in str(error.value) and "Matrix" in str(error.value)


@pytest.mark.parametrize("name", ["mlp", "text", "v1_loops"])
def test_damaged_files_are_refused(name, tmp_path):
    folder = unpacked(name, tmp_path)
    path = folder / "saved_model.pb"
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 3, len(whole) - 7):
        path.write_bytes(whole[:size])
        with pytest.raises(tf.errors.OpError):
            tf.saved_model.load(str(folder))


def test_loading_again_and_again_is_flat(tmp_path):
    folder = str(unpacked("transformer", tmp_path))
    _, inputs, _ = next(calls_of("transformer"))
    given = {key: tf.constant(value) for key, value in inputs.items()}

    def load():
        tf.saved_model.load(folder).signatures["serving_default"](**given)

    flat.assert_flat(load, 10)
