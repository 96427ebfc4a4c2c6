"""tf.saved_model: what comes back is what was saved, and damaged files say so."""

import contextlib
import inspect
import os
import struct
import subprocess
import sys

import flat
import numpy as np
import pytest
from tidemark.saved_model import _own_file, _save

import tidemark as tf


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="w")
        self.scales = [tf.Variable(1.5), tf.Variable(2.0, trainable=False)]
        self.shift = tf.constant([5.0, -6.0])
        self.calls = tf.Variable(0, name="calls")
        self.inner = tf.Module()
        self.inner.bias = tf.Variable(0.25)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def __call__(self, x):
        self.calls.assign_add(1)
        y = tf.matmul(x, self.w) + self.shift + self.inner.bias
        if tf.reduce_sum(y) > 0:
            y = y * self.scales[0]
        rounds = 0
        while tf.reduce_max(tf.abs(y)) < 100.0:
            y = y * self.scales[1]
            rounds += 1
        return {"y": y, "rounds": tf.cast(rounds, tf.int32)}

    @tf.function
    def step(self, x, rate=0.5, training=False):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.matmul(x, self.w)))
        gradient = tape.gradient(loss, self.w)
        if training:
            self.w.assign_sub(rate * gradient)
        return [loss, (gradient,)]


X = np.arange(12, dtype=np.float32).reshape(4, 3) / 7


def saved(tmp_path, obj, **kwargs):
    folder = str(tmp_path / "model")
    tf.saved_model.save(obj, folder, **kwargs)
    return folder


def saved_as_own(tmp_path, obj):
    """As the one file that models become which TensorFlow has no form for."""
    folder = str(tmp_path / "model")
    _own_file.OwnFile(*_save._collected(obj, None, None)).write(folder)
    return folder


@pytest.mark.parametrize("how", [saved, saved_as_own])
def test_what_was_saved_comes_back(tmp_path, how):
    model = Model()
    want = model(X)
    loaded = tf.saved_model.load(how(tmp_path, model))
    got = loaded(X)
    np.testing.assert_array_equal(got["y"], want["y"])
    assert int(got["rounds"]) == int(want["rounds"])
    assert [v.numpy() for v in loaded.scales] == [1.5, 2.0]
    assert not loaded.scales[1].trainable and loaded.w.name == "w:0"
    np.testing.assert_array_equal(loaded.shift, [5.0, -6.0])
    assert loaded.inner.bias.numpy() == 0.25


@pytest.mark.parametrize("how", [saved, saved_as_own])
def test_updates_and_gradients_go_on(tmp_path, how):
    model = Model()
    x = tf.constant(X)
    model.step(x, training=True)
    model.step(x)
    loaded = tf.saved_model.load(how(tmp_path, model))
    for training in (False, True, False):
        want, got = model.step(x, training=training), loaded.step(x, training=training)
        assert isinstance(got, list) and isinstance(got[1], tuple)
        np.testing.assert_allclose(got[0], want[0], rtol=1e-6)
        np.testing.assert_allclose(got[1][0], want[1][0], rtol=1e-6)
    np.testing.assert_allclose(loaded.w, model.w, rtol=1e-6)
    before = int(loaded.calls)
    loaded(X)
    assert int(loaded.calls) == before + 1


def test_the_loaded_function_is_differentiable(tmp_path):
    model = Model()
    loaded = tf.saved_model.load(saved(tmp_path, model))
    for one in (model, loaded):
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(one(X)["y"])
        one.gradient = tape.gradient(total, one.w)
    np.testing.assert_allclose(model.gradient, loaded.gradient, rtol=1e-6)


def test_signatures(tmp_path):
    model = Model()
    folder = saved(tmp_path, model, signatures={
        "serving_default": model.__call__,
        "step": model.step.get_concrete_function(tf.TensorSpec([2, 3], tf.float32, name="batch")),
    })  # fmt: skip
    loaded = tf.saved_model.load(folder)
    assert sorted(loaded.signatures) == ["serving_default", "step"]
    serve = loaded.signatures["serving_default"]
    assert serve.structured_input_signature == (
        (), {"x": tf.TensorSpec([None, 3], tf.float32, name="x")},
    )  # fmt: skip
    assert sorted(serve.structured_outputs) == ["rounds", "y"]
    np.testing.assert_array_equal(serve(x=tf.constant(X))["y"], model(X)["y"])
    assert sorted(loaded.signatures["step"](batch=tf.zeros([2, 3]))) == ["output_0", "output_1"]
    with pytest.raises(TypeError, match="takes the inputs x"):
        serve(z=tf.constant(X))
    with pytest.raises(tf.errors.InvalidArgumentError, match="input 'x' must be"):
        serve(x=tf.zeros([2, 4]))


def test_a_loaded_model_can_be_saved_again(tmp_path):
    model = Model()
    first = tf.saved_model.load(saved(tmp_path, model))
    tf.saved_model.save(first, str(tmp_path / "again"), signatures=first.signatures)
    second = tf.saved_model.load(str(tmp_path / "again"))
    np.testing.assert_array_equal(second(X)["y"], model(X)["y"])
    np.testing.assert_array_equal(
        second.signatures["serving_default"](x=X)["y"], model(X)["y"]
    )  # fmt: skip


def test_tables_strings_and_ragged_results(tmp_path):
    class Words(tf.Module):
        def __init__(self):
            super().__init__()
            keys, values = tf.constant(["a", "bb"]), tf.constant([10, 20], tf.int64)
            init = tf.lookup.KeyValueTensorInitializer(keys, values)
            self.table = tf.lookup.StaticHashTable(init, -1)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def find(self, words):
            return self.table.lookup(words), tf.strings.upper(words)

        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
        def twice(self, values):
            return values * 2.0

    words = Words()
    folder = saved(tmp_path, words)
    del words
    loaded = tf.saved_model.load(folder)
    numbers, texts = loaded.find(tf.constant(["bb", "zz", "a"]))
    assert numbers.numpy().tolist() == [20, -1, 10]
    assert texts.numpy().tolist() == [b"BB", b"ZZ", b"A"]
    assert loaded.twice(tf.ragged.constant([[1.0], [2.0, 3.0]])).to_list() == [[2.0], [4.0, 6.0]]


def test_python_in_a_function_is_refused_with_its_line(tmp_path):
    module = tf.Module()
    module.f = tf.function(
        lambda x: tf.py_function(lambda v: v + 1, [x], tf.float32),
        input_signature=[tf.TensorSpec([2], tf.float32)],
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"test_saved_model.py:\d+") as error:
        tf.saved_model.save(module, str(tmp_path / "model"))
    assert "py_function" in str(error.value)
    assert not (tmp_path / "model").exists()


def test_calls_that_were_not_saved_are_refused(tmp_path):
    model = Model()
    model.step(tf.constant(X))
    loaded = tf.saved_model.load(saved(tmp_path, model))
    with pytest.raises(ValueError, match="Could not find a matching concrete function"):
        loaded.step(tf.zeros([2, 7]))
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save(3, str(tmp_path / "other"))


def test_no_model_and_an_empty_one_of_tensorflow(tmp_path):
    assert not tf.saved_model.contains_saved_model(str(tmp_path))
    with pytest.raises(OSError, match="does not exist"):
        tf.saved_model.load(str(tmp_path))
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01")
    with pytest.raises(tf.errors.DataLossError, match="it has no meta graph"):
        tf.saved_model.load(str(tmp_path))


def test_every_cut_and_many_flips_are_typed_errors(tmp_path):
    folder = saved_as_own(tmp_path, Model())
    path = os.path.join(folder, "saved_model.tidemark")
    with open(path, "rb") as file:
        whole = file.read()

    def read(data):
        with open(path, "wb") as file:
            file.write(data)
        tf.saved_model.load(folder)

    for end in [*range(0, len(whole), 61), len(whole) - 1]:
        with pytest.raises(tf.errors.DataLossError):
            read(whole[:end])
    random = np.random.default_rng(1)
    for _ in range(100):
        data = bytearray(whole)
        data[random.integers(0, len(data))] ^= 1 << random.integers(0, 8)
        with contextlib.suppress(tf.errors.OpError):
            read(bytes(data))  # a bit between two tensors belongs to nobody
    version = bytearray(whole)
    version[8:12] = struct.pack("<I", 99)
    with pytest.raises(tf.errors.UnimplementedError, match="version 99"):
        read(bytes(version))


def test_a_save_that_fails_leaves_the_old_model(tmp_path):
    model = Model()
    folder = saved(tmp_path, model)
    module = tf.Module()
    module.f = tf.function(
        lambda x: tf.numpy_function(lambda v: v, [x], tf.float32),
        input_signature=[tf.TensorSpec([2], tf.float32)],
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.saved_model.save(module, folder)
    assert sorted(os.listdir(folder)) == ["assets", "saved_model.pb", "variables"]
    np.testing.assert_array_equal(tf.saved_model.load(folder)(X)["y"], model(X)["y"])


KILLED = """
import sys, tidemark as tf
m = tf.Module()
m.v = tf.Variable(tf.ones([200_000]))
number = 1
tf.saved_model.save(m, sys.argv[1])
print("ready", flush=True)
while True:
    number += 1
    m.v.assign(tf.fill([200_000], float(number)))
    tf.saved_model.save(m, sys.argv[1])
"""


def test_a_save_killed_at_any_moment_leaves_a_whole_model(tmp_path):
    folder, last = str(tmp_path / "model"), 0.0
    random = np.random.default_rng(2)
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, folder], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
        try:
            process.wait(random.uniform(0.005, 0.08))
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait()
        process.stdout.close()
        values = tf.saved_model.load(folder).v.numpy()
        assert values.min() == values.max() > 0
        last = max(last, values[0])
    assert last > 1  # some were written after the first
    tf.saved_model.save(tf.Module(), folder)
    assert os.listdir(tmp_path) == ["model"]  # what was killed has been tidied away
    assert sorted(os.listdir(folder)) == ["assets", "saved_model.pb", "variables"]


def test_loading_and_dropping_is_flat(tmp_path):
    folder = saved(tmp_path, Model())

    def one_round():
        tf.saved_model.load(folder).signatures["serving_default"](x=X)

    flat.assert_flat(one_round, rounds=400, warm_up=100)


def test_aliases_and_functions_that_were_never_traced(tmp_path):
    model = Model()
    model.step(tf.constant(X))
    options = tf.saved_model.SaveOptions(function_aliases={"train": model.step})
    model.later = tf.function(lambda x: x)
    folder = saved(tmp_path, model, options=options)
    loaded = tf.saved_model.load(
        folder, options=tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    )
    want = model.step(tf.constant(X))[0]
    np.testing.assert_array_equal(loaded.function_aliases["train"](tf.constant(X))[0], want)
    with pytest.raises(ValueError, match="zero restored functions"):
        loaded.later(1)


def test_a_bound_function_tells_its_parameters():
    assert str(inspect.signature(Model().step)) == "(x, rate=0.5, training=False)"
