"""model.export of Keras models, read back with tf.saved_model.load and as a layer."""

import importlib.util
import os

import numpy as np
import pytest

import tidemark as tf

if importlib.util.find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)

keras = tf.keras
layers = keras.layers


def dense():
    return keras.Sequential([
        keras.Input((8,)), layers.Dense(16, activation="relu"), layers.Dropout(0.3),
        layers.Dense(3, activation="softmax"),
    ]), [np.random.rand(5, 8)]  # fmt: skip


def convolution():
    return keras.Sequential([
        keras.Input((12, 12, 1)), layers.Conv2D(4, 3, padding="same", activation="relu"),
        layers.BatchNormalization(), layers.MaxPooling2D(),
        layers.Conv2DTranspose(3, 3, strides=2, padding="same"), layers.GlobalAveragePooling2D(),
    ]), [np.random.rand(3, 12, 12, 1)]  # fmt: skip


def recurrent():
    return keras.Sequential([
        keras.Input((None,), dtype="int32"), layers.Embedding(50, 8, mask_zero=True),
        layers.Bidirectional(layers.LSTM(6)), layers.Dense(4),
    ]), [np.random.randint(0, 50, (3, 7))]  # fmt: skip


def two_inputs():
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    joined = layers.Dense(2)(layers.Concatenate()([a, b]))
    return keras.Model([a, b], joined), [np.random.rand(5, 4), np.random.rand(5, 4)]


def attention():
    x = keras.Input((6, 16))
    y = layers.LayerNormalization()(layers.MultiHeadAttention(2, 8)(x, x))
    return keras.Model(x, y), [np.random.rand(2, 6, 16)]


@pytest.mark.parametrize("make", [dense, convolution, recurrent, two_inputs, attention])
def test_an_exported_model_gives_the_same(tmp_path, make):
    model, arrays = make()
    arrays = [
        a.astype(model_input.dtype) for a, model_input in zip(arrays, model.inputs, strict=True)
    ]
    given = arrays[0] if len(arrays) == 1 else arrays
    want = model(given, training=False)
    folder = str(tmp_path / "model")
    model.export(folder, verbose=False)
    assert sorted(os.listdir(folder)) == ["assets", "saved_model.pb", "variables"]
    loaded = tf.saved_model.load(folder)
    np.testing.assert_allclose(loaded.serve(given), want, rtol=1e-5, atol=1e-6)
    names = [i.name for i in model.inputs]
    serve = loaded.signatures["serving_default"]
    assert sorted(serve.structured_input_signature[1]) == sorted(names)
    named = {name: array[:1] for name, array in zip(names, arrays, strict=True)}
    np.testing.assert_allclose(serve(**named)["output_0"], want[:1], rtol=1e-4, atol=1e-5)
    assert len(loaded.variables) == len(model.variables)


def test_an_exported_model_is_a_layer_that_trains(tmp_path):
    model, (x,) = dense()
    model.export(str(tmp_path / "model"), verbose=False)
    layer = layers.TFSMLayer(str(tmp_path / "model"))
    assert len(layer.trainable_weights) == 4
    np.testing.assert_allclose(layer(x.astype("float32")), model(x, training=False), rtol=1e-5)


def test_endpoints_and_collections(tmp_path):
    model, (x,) = dense()
    archive = keras.export.ExportArchive()
    archive.track(model)
    spec = [keras.InputSpec(shape=(None, 8), dtype="float32")]
    archive.add_endpoint("call_inference", lambda v: model.call(v, training=False), spec)
    archive.add_endpoint("twice", lambda v: 2 * model.call(v, training=False), spec)
    archive.add_variable_collection("first", model.layers[0].variables)
    archive.write_out(str(tmp_path / "model"), verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    assert sorted(loaded.signatures) == ["call_inference", "serving_default", "twice"]
    np.testing.assert_allclose(
        loaded.twice(x.astype("float32")), 2 * loaded.call_inference(x.astype("float32"))
    )
    assert [v.shape for v in loaded.first] == [(8, 16), (16,)]


def test_a_checkpoint_restores_a_model_and_its_optimizer_before_they_are_built(tmp_path):
    def make():
        model = keras.Sequential([layers.Dense(4), layers.Dense(2)])
        model.compile("adam", "mse")
        return model, tf.train.Checkpoint(model=model, optimizer=model.optimizer)

    model, checkpoint = make()
    x, y = np.random.rand(16, 3).astype("float32"), np.random.rand(16, 2)
    model.fit(x, y, epochs=2, verbose=0)
    path = checkpoint.save(str(tmp_path / "ck"))
    other, fresh = make()
    status = fresh.restore(path)
    other.build((None, 3))
    np.testing.assert_array_equal(other(x), model(x))
    other.optimizer.build(other.trainable_variables)
    for mine, theirs in zip(other.optimizer.variables, model.optimizer.variables, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    status.assert_consumed()
