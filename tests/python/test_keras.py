"""Keras itself, with Tidemark in TensorFlow's place. Its own tests: tests/keras/run."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tidemark as tf

if importlib.util.find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)


def run_program(tmp_path, source, *arguments):
    """What a program for TensorFlow prints under the runner."""
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(source))
    environ = {k: v for k, v in os.environ.items() if not k.startswith("KERAS")}
    environ["KERAS_HOME"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", *arguments, str(path)],
        capture_output=True,
        text=True,
        env=environ,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_tidemark_does_not_load_keras():
    code = "import sys, tidemark; assert 'keras' not in sys.modules and 'h5py' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_keras_comes_under_its_three_names(tmp_path):
    source = """
        import keras
        from tensorflow import keras as other
        import tensorflow as tf
        assert other is tf.keras and keras.backend.backend() == "tensorflow"
        assert tf.keras.Model is keras.Model and tf.keras.backend.mean  # older names are there
        print(tf.keras.layers.Dense(3)(tf.ones([2, 4])).shape)
    """
    assert run_program(tmp_path, source) == "(2, 3)\n"


def test_memory_belongs_to_the_lines_of_the_program(tmp_path):
    source = """
        import tensorflow as tf
        layer = tf.keras.layers.Dense(100)
        y = layer(tf.ones([50, 30]))
        print(tf.memory.report())
    """
    report = run_program(tmp_path, source)
    assert "program.py:4" in report and "keras/src" not in report


def make_model(**compile_arguments):
    keras = tf.keras
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.layers.Input((8, 8, 1)),
            keras.layers.Conv2D(4, 3, activation="relu"),
            keras.layers.BatchNormalization(momentum=0.5),
            keras.layers.Dropout(0.1),
            keras.layers.Flatten(),
            keras.layers.Dense(3, activation="softmax"),
        ]
    )
    model.compile(
        keras.optimizers.Adam(0.02),
        "sparse_categorical_crossentropy",
        metrics=["accuracy"],
        **compile_arguments,
    )
    return model


def make_data(count=48):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, count)
    x = rng.normal(size=(count, 8, 8, 1)).astype("float32") * 0.3 + y[:, None, None, None]
    return x, y


def test_batches_train_a_model_through_a_traced_function():
    x, y = make_data()
    model = make_model()
    first = model.train_on_batch(x, y)
    for _ in range(40):
        last = model.train_on_batch(x, y)
    assert last[0] < 0.3 * first[0] and last[1] > 0.9
    # Another batch size, and what is no training, give the same model's results.
    assert model.test_on_batch(x[:7], y[:7])[0] < first[0]
    together = model.predict_on_batch(x)
    apart = np.concatenate([model.predict_on_batch(x[:5]), model.predict_on_batch(x[5:])])
    np.testing.assert_allclose(together, apart, rtol=1e-4, atol=1e-6)


def test_the_traced_function_does_what_eager_code_does():
    x, y = make_data()
    losses = []
    for eagerly in (True, False):
        model = make_model(run_eagerly=eagerly)
        losses.append([model.train_on_batch(x, y)[0] for _ in range(4)])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3)


@pytest.mark.parametrize("steps", [1, 3])
def test_fit_evaluate_and_predict_go_through_datasets(steps):
    x, y = make_data(50)
    model = make_model(steps_per_execution=steps)
    history = model.fit(x, y, batch_size=16, epochs=20, validation_data=(x, y), verbose=0)
    losses = history.history["val_loss"]
    assert len(losses) == 20 and losses[-1] < 0.5 * losses[0]
    loss, accuracy = model.evaluate(x, y, batch_size=7, verbose=0)
    np.testing.assert_allclose(loss, losses[-1], rtol=1e-4)
    assert accuracy > 0.9
    predicted = model.predict(x, batch_size=7, verbose=0)
    assert predicted.shape == (50, 3)
    np.testing.assert_allclose(predicted, model(x, training=False), rtol=1e-4, atol=1e-6)


def test_a_new_epoch_is_no_new_trace():
    x, y = make_data(32)
    model = make_model()
    traced = []

    class Counting(tf.keras.layers.Layer):
        def call(self, inputs):
            traced.append(inputs.shape)
            return inputs

    model = tf.keras.Sequential([Counting(), tf.keras.layers.Flatten(), tf.keras.layers.Dense(3)])
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x, y, batch_size=16, epochs=1, verbose=0)
    count = len(traced)
    model.fit(x, y, batch_size=16, epochs=4, verbose=0)
    assert len(traced) == count


@pytest.mark.parametrize("second", ["LSTM", "GRU", "SimpleRNN"])
@pytest.mark.parametrize("first", ["LSTM", "GRU", "SimpleRNN"])
def test_masked_rnns_over_each_other_take_any_batch_and_length(first, second):
    layers, rng = tf.keras.layers, np.random.default_rng(0)
    words = layers.Input((None,), dtype="int32")
    x = layers.Embedding(20, 8, mask_zero=True)(words)
    x = layers.Bidirectional(getattr(layers, first)(6, return_sequences=True))(x)
    model = tf.keras.Model(words, getattr(layers, second)(5)(x))
    model.compile(optimizer="adam", loss="mse")

    def batches():
        for rows, length in [(4, 7), (3, 9), (4, 1)]:
            text = rng.integers(1, 20, (rows, length))
            text[0], text[-1, length // 2 + 1 :] = 0, 0
            yield text.astype("int32"), np.ones((rows, 5), "float32")

    signature = (tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None, 5]))
    rows = tf.data.Dataset.from_generator(batches, output_signature=signature)
    losses = model.fit(rows, epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    anything = tf.function(lambda t: model(t), input_signature=[tf.TensorSpec([None, None])])
    for text, _ in batches():
        np.testing.assert_allclose(anything(text.astype("f")), model(text), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["Adam", "SGD", "RMSprop", "Nadam"])
def test_an_optimizer_without_memory_is_not_half_built(tmp_path, name):
    source = f"""
        import numpy as np
        import tensorflow as tf
        import keras
        options = {{"momentum": 0.9}} if {name!r} == "SGD" else {{}}
        model = keras.Sequential([keras.Input((1000,)), keras.layers.Dense(1000)])
        model.compile(getattr(keras.optimizers, {name!r})(**options), "mse")
        x = np.ones((8, 1000), np.float32)
        before = len(model.optimizer.variables)
        with tf.memory.limit("2 MiB"):  # the model has 4 MB
            try:
                model.fit(x, x, verbose=0)
            except tf.errors.ResourceExhaustedError:
                print("no memory", model.optimizer.built, len(model.optimizer.variables) - before)
        model.fit(x, x, verbose=0)
        again = model.optimizer.variables
        print("trained", len(again) == len({{v.path for v in again}}))
    """
    assert run_program(tmp_path, source) == "no memory False 0\ntrained True\n"
