"""Whole programs on a GPU: what they compute, where, and that its memory stays flat to the page.

Run by tests/gpu/run where Keras is there; a function a check, as in checks.py.
"""

import os
import subprocess
import sys

import numpy as np
from checks import CHECKS, GPU, check, main

import tidemark as tf
from tidemark import _tidemark

CHECKS.clear()  # checks.py has a run of its own

tf.install_as_tensorflow()

import keras  # noqa: E402


def committed():
    """Bytes of the GPU that are present for us once all enqueued work is done."""
    _tidemark.wait_for_devices()
    return _tidemark.device_stats(GPU)["committed"]


def small_network(sizes=(64, 64)):
    layers = [keras.layers.Dense(n, activation="relu") for n in sizes]
    model = keras.Sequential([keras.Input((20,)), *layers, keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


def numbers(rows):
    random = np.random.default_rng(3)
    x = random.normal(0, 1, (rows, 20)).astype("float32")
    return x, np.sin(x.sum(1, keepdims=True)).astype("float32")


def trained(policy, epochs=3):
    keras.utils.set_random_seed(11)
    keras.mixed_precision.set_global_policy(policy)
    try:
        model = small_network()
        history = model.fit(*numbers(2048), batch_size=64, epochs=epochs, verbose=0)
        predicted = model.predict(numbers(256)[0], verbose=0)
    finally:
        keras.mixed_precision.set_global_policy("float32")
    assert np.isfinite(predicted).all()
    return history.history["loss"], model


@check
def keras_trains_under_every_policy():
    told = []
    for policy in ("float32", "mixed_bfloat16", "mixed_float16"):
        with tf.device("/CPU:0"):
            wanted, _ = trained(policy)
        with tf.device("/GPU:0"):
            given, model = trained(policy)
            again, _ = trained(policy)
        assert given == again, f"{policy}: {given} and {again} of the same program"
        places = {v.value.device for v in model.variables if v.value.shape.rank == 2}
        assert all(place.endswith("GPU:0") for place in places), (policy, places)
        np.testing.assert_allclose(given, wanted, rtol=1e-3 if policy == "float32" else 0.1)
        told.append(f"{policy} {given[0]:.4f} to {given[-1]:.4f}")
    return ", ".join(told)


@check
def a_convolutional_network_trains():
    random = np.random.default_rng(2)
    x = random.normal(0, 1, (256, 12, 12, 3)).astype("float32")
    y = random.integers(0, 4, 256)

    def losses():
        keras.utils.set_random_seed(4)
        model = keras.Sequential([
            keras.Input((12, 12, 3)),
            keras.layers.Conv2D(8, 3, activation="relu", padding="same"),
            keras.layers.BatchNormalization(), keras.layers.MaxPooling2D(),
            keras.layers.Conv2D(16, 3, strides=2), keras.layers.Flatten(),
            keras.layers.Dropout(0.2), keras.layers.Dense(4),
        ])  # fmt: skip
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss)
        return model.fit(x, y, batch_size=32, epochs=2, verbose=0).history["loss"]

    with tf.device("/CPU:0"):
        wanted = losses()
    with tf.device("/GPU:0"):
        given, again = losses(), losses()
    assert given == again, "other losses the second time"
    np.testing.assert_allclose(given, wanted, rtol=5e-3)
    return f"loss {given}"


@check
def ten_thousand_training_steps_are_flat():
    with tf.device("/GPU:0"):
        model, (x, y) = small_network(), numbers(64)
        x, y = tf.constant(x) * 1.0, tf.constant(y) * 1.0
        seen = []
        for step in range(10_000):
            model.train_on_batch(x, y)
            if step % 1000 == 999:
                seen.append(committed())
    assert len(set(seen)) == 1, seen
    return f"{seen[-1]:,} bytes"


@check
def a_thousand_models_leave_nothing():
    x, y = numbers(64)
    seen = []
    with tf.device("/GPU:0"):
        for number in range(1000):
            model = small_network((16 + number % 7,))
            model.train_on_batch(x, y)
            del model
            if number % 100 == 99:
                keras.backend.clear_session()
                _tidemark.release_device(GPU)
                seen.append(committed())
    assert len(set(seen[1:])) == 1, seen
    return f"{seen[-1]:,} bytes"


ONE_OF_EIGHT = """
import sys
import numpy as np
import tidemark as tf
tf.memory.set_limit("256MiB", device="gpu:0")
seed = int(sys.argv[1])
x = np.random.default_rng(seed).normal(0, 1, (512, 512)).astype("float32")
with tf.device("/GPU:0"):
    a = tf.constant(x) * 1.0
    for _ in range(200):
        b = tf.tanh(tf.matmul(a, a) * 0.01)
    try:
        tf.ones((2**27,)) * 1.0
        raise SystemExit("half a gibibyte came out of a quarter of one")
    except tf.errors.ResourceExhaustedError:
        pass
np.testing.assert_allclose(b, np.tanh(x @ x * 0.01), rtol=1e-3, atol=1e-4)
assert tf.config.experimental.get_memory_info("GPU:0")["peak"] <= 2**28
"""


@check
def eight_processes_share_a_gpu():
    environment = {**os.environ, "TIDEMARK_NUM_THREADS": "1"}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", ONE_OF_EIGHT, str(seed)], env=environment,
            stderr=subprocess.PIPE, text=True,
        )
        for seed in range(8)
    ]  # fmt: skip
    errors = [process.communicate()[1] for process in running]
    assert not any(process.returncode for process in running), errors
    return "right results, limits held"


if __name__ == "__main__":
    main()
