"""ONNX models that are written: onnx checked them and onnxruntime ran them, which
tools/record_written_onnx.py recorded."""

from __future__ import annotations

from pathlib import Path

import flat
import numpy as np
import onnx_programs as programs
import pytest

import tidemark as tf

DATA = Path(__file__).parent / "data/written_onnx"


def recorded(name, kind):
    found = np.load(DATA / f"{name}.npz")
    return {key.partition("/")[2]: found[key] for key in found if key.startswith(kind + "/")}


def check(given, wanted):
    assert sorted(given) == sorted(wanted)
    for name, value in wanted.items():
        array = np.asarray(given[name])
        assert array.dtype == value.dtype, name
        np.testing.assert_allclose(array, value, rtol=1e-4, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_what_is_written_is_what_onnxruntime_ran(name, tmp_path):
    model, signature, _ = programs.PROGRAMS[name](tf)
    path = tmp_path / f"{name}.onnx"
    tf.onnx.save(model, path, signature)
    assert path.read_bytes() == (DATA / f"{name}.onnx").read_bytes(), (
        "record what onnxruntime answers again: tools/record_written_onnx.py"
    )


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_the_function_and_the_model_answer_as_onnxruntime(name):
    model, _, _ = programs.PROGRAMS[name](tf)
    inputs, outputs = recorded(name, "in"), recorded(name, "out")
    results = tf.nest.flatten(model(*map(tf.constant, inputs.values())))
    loaded = tf.onnx.load(DATA / f"{name}.onnx")
    check(dict(zip((port.name for port in loaded.outputs), results, strict=True)), outputs)
    check(loaded(**inputs), outputs)


def test_weights_lie_beside_the_model_where_asked_for(tmp_path):
    class Net(tf.Module):
        def __init__(self, value):
            self.large = tf.Variable(np.full([64, 33], value, np.float32))
            self.small = tf.Variable(np.arange(33, dtype=np.float32))

        @tf.function(input_signature=[tf.TensorSpec([None, 64], tf.float32, name="x")])
        def __call__(self, x):
            return tf.matmul(x, self.large) + self.small

    def files():
        return sorted(file.name for file in tmp_path.iterdir())

    path, x = tmp_path / "net.onnx", np.ones([2, 64], np.float32)

    def answer():
        return np.asarray(tf.onnx.load(path)(x=x)["output_0"])

    first, second = Net(0.5), Net(-1.0)
    tf.onnx.save(first.__call__, path, weights_beside=True)
    assert files() == ["net.onnx", "net.onnx.data"]
    assert (tmp_path / "net.onnx.data").stat().st_size == 64 * 33 * 4
    np.testing.assert_allclose(answer(), np.asarray(first(tf.constant(x))), rtol=1e-6)
    # The old weights stay until the new model is there, so they are never mixed.
    tf.onnx.save(second.__call__, path, weights_beside=True)
    assert files() == ["net.onnx", "net.onnx.data-2"]
    np.testing.assert_allclose(answer(), np.asarray(second(tf.constant(x))), rtol=1e-6)
    tf.onnx.save(first.__call__, path)
    assert files() == ["net.onnx"]
    np.testing.assert_allclose(answer(), np.asarray(first(tf.constant(x))), rtol=1e-6)


def test_everything_without_a_form_is_listed_with_its_line(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([3, 3], tf.float32)])
    def odd(x):
        y = tf.linalg.cholesky(x)
        while tf.reduce_sum(y) < 3.0:
            y += tf.math.lgamma(y)
        return tf.pad(y, [[1, 1], [1, 1]], "SYMMETRIC")

    path = tmp_path / "odd.onnx"
    with pytest.raises(tf.errors.UnimplementedError) as error:
        tf.onnx.save(odd, path)
    lines = str(error.value).splitlines()[1:]
    assert [line.split(",")[0].strip() for line in lines] == [
        "[pad] by mode SYMMETRIC has no form in ONNX", "cholesky", "lgamma"
    ]  # fmt: skip
    assert all("test_onnx_written.py:" in line for line in lines)
    assert not path.exists()


def test_state_is_not_lost_in_silence(tmp_path):
    count = tf.Variable(0.0)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def counting(x):
        count.assign_add(1.0)
        return x + count

    with pytest.raises(tf.errors.UnimplementedError, match="update_variable, .*test_onnx_written"):
        tf.onnx.save(counting, tmp_path / "counting.onnx")


def test_opsets(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, "x")])
    def double(x):
        return {"y": x * 2.0}

    for opset in (18, 21, 24):
        tf.onnx.save(double, tmp_path / "double.onnx", opset=opset)
        model = tf.onnx.load(tmp_path / "double.onnx")
        assert model.inputs[0].name == "x"
        np.testing.assert_array_equal(model(x=np.float32([1, 2]))["y"], [2, 4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="opset 18 and later"):
        tf.onnx.save(double, tmp_path / "double.onnx", opset=17)


def test_writing_is_flat_and_takes_little_beside_the_weights(tmp_path):
    weights = tf.Variable(tf.ones([1024, 1024]))
    f = tf.function(
        lambda x: tf.matmul(x, weights), input_signature=[tf.TensorSpec([None, 1024], tf.float32)]
    )
    flat.assert_flat(lambda: tf.onnx.save(f, tmp_path / "wide.onnx"), 20)
