"""Reading TFLite models: recorded models of TensorFlow's converter, refusals, the interpreter."""

import base64
import json
import zlib
from pathlib import Path

import flat
import numpy as np
import pytest
import serving

import tidemark as tf

DATA = Path(__file__).parent / "data"
CASES = {case["name"]: case for case in json.loads((DATA / "tflite_cases.json").read_text())}
INTEGERS = {case["name"]: case for case in json.loads((DATA / "tflite_integers.json").read_text())}
STATES = {case["name"]: case for case in json.loads((DATA / "tflite_states.json").read_text())}
# Where a kernel there works in a way that is not followed, how many steps it is apart.
STEPS = {"logistic_int16": 1, "tanh_int16": 1}


def array(record):
    if "strings" in record:
        return np.array([text.encode() for text in record["strings"]], object).reshape(
            record["shape"]
        )
    data = base64.b64decode(record["data"])
    return np.frombuffer(data, record["dtype"]).reshape(record["shape"])


def model_file(folder, name):
    path = folder / f"{name}.tflite"
    case = CASES.get(name) or INTEGERS[name]
    path.write_bytes(zlib.decompress(base64.b64decode(case["model"])))
    return path


def inputs_of(name):
    return [array(record) for record in (CASES.get(name) or INTEGERS[name])["inputs"]]


def check(name, results):
    case = CASES.get(name) or INTEGERS[name]
    for got, record, quantum in zip(results, case["outputs"], case["quanta"], strict=True):
        wanted, got = array(record), np.asarray(got)
        assert got.dtype == wanted.dtype or wanted.dtype == object
        assert got.shape == wanted.shape
        if wanted.dtype == object:
            assert got.tolist() == wanted.tolist()
        elif quantum and wanted.dtype != np.float32:
            # Integers that stand for reals: the same ones.
            steps = np.abs(got.astype(int) - wanted.astype(int))
            assert steps.max() <= STEPS.get(name, 0)
        else:
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", STATES)
def test_state_outlives_a_call_of_the_interpreter(name, tmp_path):
    case = STATES[name]
    path = tmp_path / "lstm.tflite"
    path.write_bytes(zlib.decompress(base64.b64decode(case["model"])))
    (first, wanted), (second, wanted_then) = (map(array, call) for call in case["calls"])
    interpreter = tf.lite.Interpreter(model_path=str(path))
    interpreter.allocate_tensors()
    given, made = interpreter.get_input_details()[0], interpreter.get_output_details()[0]

    def called(x):
        interpreter.set_tensor(given["index"], x)
        interpreter.invoke()
        return interpreter.get_tensor(made["index"])

    np.testing.assert_allclose(called(first), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(called(second), wanted_then, rtol=1e-4, atol=1e-5)
    interpreter.reset_all_variables()
    np.testing.assert_allclose(called(first), wanted, rtol=1e-4, atol=1e-5)
    # A function keeps nothing.
    model = tf.lite.load(path)
    for _ in range(2):
        np.testing.assert_allclose(model(x=first)["y"], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [*CASES, *INTEGERS])
def test_gives_what_tensorflow_recorded(name, tmp_path):
    model = tf.lite.load(model_file(tmp_path, name))
    given = inputs_of(name)
    for _ in range(2):
        check(name, model.run_in_order(given))


def test_calls_by_name_plan_and_take_any_batch(tmp_path):
    model = tf.lite.load(model_file(tmp_path, "cnn_float"))
    (port,) = model.inputs
    assert (port.name, port.element_type, port.shape) == ("images", "float32", (None, 8, 8, 3))
    images = np.linspace(-1, 1, 5 * 8 * 8 * 3, dtype=np.float32).reshape(5, 8, 8, 3)
    results = model(images=images)
    assert list(results) == [model.outputs[0].name]
    one_by_one = [model(images=images[i : i + 1])[model.outputs[0].name] for i in range(5)]
    np.testing.assert_allclose(
        results[model.outputs[0].name], np.concatenate(one_by_one), atol=1e-6
    )
    assert model.road == "traced"
    assert "peak" in model.plan(images=images)


def test_becomes_part_of_a_function_and_is_differentiable(tmp_path):
    model = tf.lite.load(model_file(tmp_path, "separable_float"))

    @tf.function
    def loss(images):
        return tf.reduce_sum(model({model.inputs[0].name: images})[model.outputs[0].name] ** 2)

    images = tf.Variable(inputs_of("separable_float")[0])
    with tf.GradientTape() as tape:
        value = loss(images)
    slope = tape.gradient(value, images)
    step = 1e-2 * slope / tf.norm(slope)
    assert loss(images + step) - loss(images - step) == pytest.approx(
        2e-2 * float(tf.norm(slope)), rel=0.05
    )


def interpreter_of(folder, name):
    return tf.lite.Interpreter(model_path=str(model_file(folder, name)))


def test_interpreter_as_tensorflows(tmp_path):
    interpreter = interpreter_of(tmp_path, "cnn_int8")
    interpreter.allocate_tensors()
    (given,), (made,) = interpreter.get_input_details(), interpreter.get_output_details()
    assert given["dtype"] == np.int8
    assert given["shape_signature"].tolist() == [-1, 8, 8, 3]
    assert given["shape"].tolist() == [1, 8, 8, 3]
    scale, zero = given["quantization"]
    assert scale > 0
    assert given["quantization_parameters"]["zero_points"].tolist() == [zero]
    images = inputs_of("cnn_int8")[0]
    with pytest.raises(ValueError, match="Dimension mismatch"):
        interpreter.set_tensor(given["index"], images)
    with pytest.raises(ValueError, match="Got value of type float32 but expected type int8"):
        interpreter.set_tensor(given["index"], images[:1].astype(np.float32))
    with pytest.raises(ValueError, match="invoke"):
        interpreter.get_tensor(made["index"])
    interpreter.resize_tensor_input(given["index"], images.shape)
    with pytest.raises(RuntimeError, match="allocate_tensors"):
        interpreter.invoke()
    interpreter.allocate_tensors()
    interpreter.set_tensor(given["index"], images)
    interpreter.invoke()
    check("cnn_int8", [interpreter.get_tensor(made["index"])])
    assert interpreter.get_output_details()[0]["shape"].tolist() == [2, 5]
    with pytest.raises(ValueError, match="open"):
        interpreter.resize_tensor_input(given["index"], [1, 9, 8, 3])


def test_interpreter_of_bytes_and_its_signatures(tmp_path):
    recorded = json.loads((DATA / "tflite_signatures.json").read_text())
    content = zlib.decompress(base64.b64decode(recorded["model"]))
    interpreter = tf.lite.Interpreter(model_content=content, num_threads=2)
    assert interpreter.get_signature_list() == recorded["list"]
    for key, (inputs, outputs) in recorded["runs"].items():
        runner = interpreter.get_signature_runner(key)
        assert set(runner.get_input_details()) == set(inputs)
        results = runner(**{name: array(value) for name, value in inputs.items()})
        assert set(results) == set(outputs)
        for name, wanted in outputs.items():
            np.testing.assert_allclose(results[name], array(wanted), rtol=1e-6)
    with pytest.raises(ValueError, match="takes"):
        runner(other=1)
    with pytest.raises(ValueError, match="Invalid signature_key"):
        interpreter.get_signature_runner("other")
    with pytest.raises(ValueError, match="None is only allowed"):
        interpreter.get_signature_runner()
    path = tmp_path / "m.tflite"
    path.write_bytes(content)
    model = tf.lite.load(path, signature="mixed")
    assert sorted(port.name for port in model.inputs) == ["a", "b"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="double, mixed"):
        tf.lite.load(path, signature="third")


def test_is_served_as_it_is(tmp_path):
    folder = tmp_path / "models" / "net" / "1"
    folder.mkdir(parents=True)
    model_file(folder, "separable_float")
    images, wanted = inputs_of("separable_float")[0], array(CASES["separable_float"]["outputs"][0])
    with serving.Server(tmp_path / "models") as server:
        answer = server.predict("net", {"instances": images.tolist()})
    assert answer.status == 200
    np.testing.assert_allclose(answer.json["predictions"], wanted, atol=1e-5)


def test_refuses_what_is_no_such_file(tmp_path):
    path = tmp_path / "m.tflite"
    for content in (b"", b"1234TFL", b"\x1c\0\0\0TFL3", b"\xff" * 4 + b"TFL3" + b"\0" * 64):
        path.write_bytes(content)
        with pytest.raises((tf.errors.DataLossError, tf.errors.InvalidArgumentError)):
            tf.lite.load(path)


def test_cut_short_at_any_place(tmp_path):
    whole = model_file(tmp_path, "loop").read_bytes()
    path = tmp_path / "cut.tflite"
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(tf.errors.OpError):
            tf.lite.load(path)


def test_lists_all_that_is_not_read(tmp_path):
    whole = bytearray(model_file(tmp_path, "sin_cos").read_bytes())
    # The codes of SIN and COS become those of two operators that are not read.
    for code, other in ((66, 27), (108, 124)):
        places = [at for at in range(len(whole)) if whole[at : at + 1] == bytes([code])]
        for at in places:
            whole[at] = other
    path = tmp_path / "m.tflite"
    path.write_bytes(whole)
    try:
        tf.lite.load(path)
    except tf.errors.UnimplementedError as error:
        assert "SVDF" in str(error) and "DENSIFY" in str(error)
    else:
        raise AssertionError("it was read")


@pytest.mark.parametrize("name", ["separable_int8", "conv_dynamic", "softmax_int16"])
def test_loading_and_calling_stays_flat(tmp_path, name):
    path = model_file(tmp_path, name)
    given = inputs_of(name)

    def once():
        tf.lite.load(path).run_in_order(given)

    flat.assert_flat(once, rounds=20)


def test_an_interpreter_that_keeps_states_stays_flat(tmp_path):
    path = tmp_path / "lstm.tflite"
    path.write_bytes(zlib.decompress(base64.b64decode(STATES["projection"]["model"])))
    interpreter = tf.lite.Interpreter(model_path=str(path))
    interpreter.allocate_tensors()

    def once():
        tf.lite.Interpreter(model_path=str(path))
        for _ in range(10):
            interpreter.invoke()
        interpreter.reset_all_variables()

    flat.assert_flat(once, rounds=20)


def test_loops_whose_arrays_grow_are_one_graph(tmp_path):
    model = tf.lite.load(model_file(tmp_path, "recurrent_float"))
    model.run_in_order(inputs_of("recurrent_float"))
    assert model.road == "traced"
