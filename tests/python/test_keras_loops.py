"""Keras in long loops stays flat, and bad input leaves everything as it was."""

import gc
import importlib.util
import os
import signal
import threading

import numpy as np
import pytest
from flat import assert_flat

import tidemark as tf

if importlib.util.find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((64, 20), dtype=np.float32)
Y = RNG.standard_normal((64, 3), dtype=np.float32)


@pytest.fixture
def model():
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(0)
    made = tf.keras.Sequential(
        [layers.Input((20,)), layers.Dense(16, activation="relu"), layers.Dense(3)]
    )
    made.compile(optimizer="adam", loss="mse")
    return made


def weights_of(model):
    return [w.numpy() for w in (*model.weights, *model.optimizer.variables)]


def assert_works(model):
    """It still learns, and predicts what it should."""
    before = model.evaluate(X, Y, verbose=0)
    model.fit(X, Y, epochs=5, verbose=0)
    assert model.evaluate(X, Y, verbose=0) < before
    assert np.isfinite(model.predict(X, verbose=0)).all()


# --- loops ---------------------------------------------------------------------------------------


def test_predictions_stay_flat(model):
    assert_flat(lambda: model.predict(X, verbose=0), rounds=400)


def test_epochs_over_a_shuffled_dataset_stay_flat(model):
    rows = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(64).batch(8).prefetch(2)
    model.fit(rows, verbose=0)
    assert_flat(lambda: model.fit(rows, verbose=0, shuffle=False), rounds=80)


def test_new_models_after_clear_session_stay_flat(model):
    def one():
        tf.keras.backend.clear_session()
        fresh = tf.keras.models.clone_model(model)
        fresh.compile(optimizer="adam", loss="mse")
        fresh.fit(X, Y, verbose=0)
        del fresh
        gc.collect()

    assert_flat(one, rounds=40, allowed=1 << 20, warm_up=10)


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y"),
    [(X[:, :5], Y), (X, Y[:, :2]), (X, Y[:10]), (X[..., None, None], Y), (X, None)],
    ids=["features", "labels", "rows", "rank", "no labels"],
)
def test_data_that_does_not_fit_changes_nothing(model, x, y):
    model.fit(X, Y, verbose=0)
    before, live = weights_of(model), []
    for _ in range(3):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            model.fit(x, y, verbose=0)
        gc.collect()
        live.append(tf.memory.stats().live)
    assert live[2] == live[1], "a failed training leaves nothing behind"
    for old, new in zip(before, weights_of(model), strict=True):
        np.testing.assert_array_equal(old, new)
    assert_works(model)


def test_losses_that_are_no_numbers_stop_the_training(model):
    steps = []
    count = tf.keras.callbacks.LambdaCallback(on_train_batch_end=lambda b, logs: steps.append(b))
    broken = X.copy()
    broken[16] = np.nan
    stop = tf.keras.callbacks.TerminateOnNaN()
    model.fit(broken, Y, batch_size=8, epochs=50, shuffle=False, verbose=0, callbacks=[stop, count])
    assert steps == [0, 1, 2], "the third batch holds the NaN"


def fit_endless_rows(model, epochs):
    rows = tf.data.Dataset.from_tensor_slices((X, Y)).repeat().shuffle(50).batch(8).prefetch(4)
    model.fit(rows, steps_per_epoch=100, epochs=epochs, verbose=0, shuffle=False)


def press_ctrl_c(seconds):
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def interrupt(number, frame):
    """What Ctrl-C does, but for one function of Keras, which drops every exception (and in which
    fit waits for its losses on a device): the key is pressed again."""
    while frame:
        if frame.f_code.co_name == "pythonify_logs":
            return press_ctrl_c(0.01)
        frame = frame.f_back
    raise KeyboardInterrupt


def interrupt_in(model):
    """fit that gets Ctrl-C after a while, from another thread."""
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        press_ctrl_c(0.3)
        with pytest.raises(KeyboardInterrupt):
            fit_endless_rows(model, epochs=100_000)
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_in_the_middle_of_fit_loses_nothing(model):
    fit_endless_rows(model, epochs=2)  # the step is traced for these batches
    gc.collect()
    live, threads = tf.memory.stats().live, threading.active_count()
    for _ in range(3):
        interrupt_in(model)
        assert all(np.isfinite(w).all() for w in weights_of(model))
    gc.collect()
    assert tf.memory.stats().live <= live + 4096, "the interrupted iterators are gone"
    assert threading.active_count() == threads
    assert_works(model)


@pytest.mark.parametrize("prefetch", [0, 3])
def test_generators_that_raise_or_change_shape_name_what_happened(model, prefetch):
    def broken(kind):
        for i in range(10):
            if i == 6 and kind == "raises":
                raise OSError("the disk is gone")
            yield (X[i, :7] if i == 6 and kind == "shape" else X[i]), Y[i]

    def rows(kind):
        signature = (tf.TensorSpec([20]), tf.TensorSpec([3]))
        made = tf.data.Dataset.from_generator(lambda: broken(kind), output_signature=signature)
        return made.batch(2).prefetch(prefetch) if prefetch else made.batch(2)

    with pytest.raises(tf.errors.UnknownError, match="OSError: the disk is gone") as raised:
        model.fit(rows("raises"), verbose=0)
    assert isinstance(raised.value, OSError), "it may be caught as what the generator raised"
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        model.fit(rows("shape"), verbose=0)
    assert_works(model)


def test_broken_files_of_models_are_refused(model, tmp_path):
    model.fit(X, Y, verbose=0)
    path = tmp_path / "model.keras"
    model.save(path)
    whole = path.read_bytes()
    loaded = tf.keras.models.load_model(path)
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(60):
        data = bytearray(whole)
        if rng.random() < 0.5:
            data = data[: rng.integers(0, len(data))]
        else:
            for place in rng.integers(0, len(data), 20):
                data[place] = rng.integers(0, 256)
        path.write_bytes(bytes(data))
        try:
            tf.keras.models.load_model(path)
        except Exception as error:
            assert str(error) or type(error) is not Exception
            refused += 1
    assert refused > 30
    np.testing.assert_array_equal(
        loaded.predict(X, verbose=0), model.predict(X, verbose=0), "loading touched nothing else"
    )
