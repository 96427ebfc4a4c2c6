"""Reading ONNX models: recorded cases of ONNX's own node tests, refusals, gradients, memory."""

import base64
import json
import os
from pathlib import Path

import flat
import numpy as np
import pytest

import tidemark as tf

DATA = Path(__file__).parent / "data"
CASES = {case["name"]: case for case in json.loads((DATA / "onnx_cases.json").read_text())}
CORPUS = Path(__file__).parent.parent / "fuzz" / "corpora" / "onnx"

FLOAT, INT64 = 1, 7


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(field, value):
    return varint(field << 3) + varint(value)


def piece(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(name, array, external=None):
    kind = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64}[array.dtype]
    out = b"".join(number(1, size) for size in array.shape) + number(2, kind) + piece(8, name)
    if external is None:
        return out + piece(9, array.tobytes())
    entries = (piece(13, piece(1, key) + piece(2, str(value))) for key, value in external.items())
    return out + b"".join(entries) + number(14, 1)


def value_info(name, sizes, kind=FLOAT):
    dims = b"".join(piece(1, piece(2, s) if isinstance(s, str) else number(1, s)) for s in sizes)
    return piece(1, name) + piece(2, piece(1, number(1, kind) + piece(2, dims)))


def node(op, inputs, outputs, name="", domain=""):
    parts = [piece(1, one) for one in inputs] + [piece(2, one) for one in outputs]
    return b"".join(parts) + piece(3, name) + piece(4, op) + piece(7, domain)


def model_bytes(nodes, inputs, outputs, weights=(), opset=18):
    graph = b"".join(piece(1, one) for one in nodes) + piece(2, "g")
    graph += b"".join(piece(5, one) for one in weights)
    graph += b"".join(piece(11, one) for one in inputs) + b"".join(
        piece(12, one) for one in outputs
    )
    return number(1, 8) + piece(7, graph) + piece(8, number(2, opset))


def load(folder, data, **options):
    path = folder / "model.onnx"
    path.write_bytes(data)
    return tf.onnx.load(path, **options)


def dense(folder, **options):
    """y = relu(x @ w + b) with an unknown number of rows."""
    w = np.arange(6, dtype=np.float32).reshape(3, 2) - 2
    weights = [tensor("w", w), tensor("b", np.array([0.5, -0.5], np.float32))]
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("Add", ["m", "b"], ["a"]),
        node("Relu", ["a"], ["y"]),
    ]
    data = model_bytes(
        nodes, [value_info("x", ["rows", 3])], [value_info("y", ["rows", 2])], weights
    )
    return load(folder, data, **options), w


# --- recorded cases --------------------------------------------------------------------------


def array(value, port):
    if value is None:
        return None
    if isinstance(value, list):
        return [array(item, port) for item in value]
    if "strings" in value:
        return np.array(value["strings"], object).reshape(value["shape"])
    data = base64.b64decode(value["data"])
    held = port.dtype.as_numpy_dtype if port.dtype is not None else np.dtype(value["dtype"])
    return np.frombuffer(data, held).reshape(value["shape"])


def compare(got, wanted, rtol, atol):
    if wanted is None:
        assert got is None
        return
    if isinstance(wanted, list):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            compare(one, other, rtol, atol)
        return
    got = np.asarray(got.numpy())
    assert got.shape == wanted.shape
    if wanted.dtype == object:
        assert [text.decode() for text in got.ravel()] == list(wanted.ravel())
        return
    assert got.dtype == wanted.dtype
    if wanted.dtype.name == "bfloat16":
        got, wanted = got.astype(np.float32), wanted.astype(np.float32)
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", CASES)
def test_recorded_case(name, tmp_path):
    case = CASES[name]
    model = load(tmp_path, base64.b64decode(case["model"]))
    given = {}
    for port, value in zip(model.inputs, case["inputs"], strict=False):
        given[port.name] = array(value, port)
    results = model(given)
    for port, wanted in zip(model.outputs, case["outputs"], strict=True):
        compare(results[port.name], array(wanted, port), case["rtol"], case["atol"])


# --- what a model is -------------------------------------------------------------------------


def test_call_by_keyword_or_dict_of_any_size(tmp_path):
    model, w = dense(tmp_path)
    assert [port.name for port in model.inputs] == ["x"]
    assert model.inputs[0].shape == ("rows", 3)
    assert model.inputs[0].dtype == tf.float32
    assert model.outputs[0].element_type == "float32"
    for rows in (1, 4, 7, 2):
        x = np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32)
        wanted = np.maximum(x @ w + np.array([0.5, -0.5], np.float32), 0)
        np.testing.assert_allclose(model(x=x)["y"], wanted, rtol=1e-6)
        np.testing.assert_allclose(model({"x": x})["y"], wanted, rtol=1e-6)
    assert model.road == "traced"
    assert len(model.traces) <= 2


def test_plan_tells_what_a_call_needs(tmp_path):
    model, _ = dense(tmp_path)
    assert "peak" in model.plan(x=np.zeros((64, 3), np.float32))


def test_wrong_calls_say_what_is_wrong(tmp_path):
    model, _ = dense(tmp_path)
    with pytest.raises(ValueError, match="no input 'z'. Its inputs are: x"):
        model(z=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="'x' of the ONNX model is missing"):
        model()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must have shape \(None, 3\)"):
        model(x=np.zeros((2, 4), np.float32))


def test_gradients_flow_to_inputs_and_weights(tmp_path):
    model, w = dense(tmp_path, trainable=True)
    assert sorted(v.name.split(":")[0] for v in model.trainable_variables) == ["b", "w"]
    x = tf.constant(np.array([[1.0, 2.0, 3.0], [0.5, 0.25, 1.0]], np.float32))
    for _ in range(2):  # the second round runs the trace
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(model(x=x)["y"])
        gradients = tape.gradient(loss, [x, *model.trainable_variables])
        open_units = (x.numpy() @ w + np.array([0.5, -0.5], np.float32) > 0).astype(np.float32)
        np.testing.assert_allclose(gradients[0], open_units @ w.T, rtol=1e-6)
        by_name = dict(
            zip(
                [v.name.split(":")[0] for v in model.trainable_variables],
                gradients[1:],
                strict=True,
            )
        )
        np.testing.assert_allclose(by_name["w"], x.numpy().T @ open_units, rtol=1e-6)
        np.testing.assert_allclose(by_name["b"], open_units.sum(0), rtol=1e-6)


def test_updates_of_variables_are_seen(tmp_path):
    model, _ = dense(tmp_path, trainable=True)
    x = np.ones((1, 3), np.float32)
    model(x=x)
    for variable in model.trainable_variables:
        variable.assign(tf.ones_like(variable))
    np.testing.assert_allclose(model(x=x)["y"], [[4.0, 4.0]])


def test_inside_of_a_function(tmp_path):
    model, w = dense(tmp_path)

    @tf.function
    def twice(x):
        return 2 * model(x=x)["y"]

    x = np.ones((2, 3), np.float32)
    np.testing.assert_allclose(twice(tf.constant(x)), 2 * model(x=x)["y"].numpy())


# --- refusals --------------------------------------------------------------------------------


def test_everything_that_is_not_read_is_listed_at_once(tmp_path):
    nodes = [
        node("Sing", ["x"], ["a"], "first"),
        node("Sing", ["a"], ["b"], "second"),
        node("Dance", ["b"], ["y"], "third", "com.example"),
    ]
    data = model_bytes(nodes, [value_info("x", [1])], [value_info("y", [1])])
    with pytest.raises(tf.errors.UnimplementedError) as error:
        load(tmp_path, data)
    assert "op Sing, 2 nodes: first, second" in str(error.value)
    assert "op com.example.Dance, 1 node: third" in str(error.value)


def test_damaged_files_are_refused(tmp_path):
    whole = (CORPUS / "conv_with_strides_padding.onnx").read_bytes()
    for cut in range(0, len(whole) - 1, 7):
        with pytest.raises(tf.errors.OpError):
            load(tmp_path, whole[:cut])
    with pytest.raises(tf.errors.NotFoundError):
        tf.onnx.load(tmp_path / "nothing.onnx")


def test_sizes_and_data_that_disagree_are_refused(tmp_path):
    weight = number(1, 1 << 40) + number(2, FLOAT) + piece(8, "w") + piece(9, b"\0" * 8)
    data = model_bytes(
        [node("Add", ["x", "w"], ["y"])], [value_info("x", [2])], [value_info("y", [2])], [weight]
    )
    with pytest.raises(tf.errors.DataLossError, match="'w'.*holds 8 bytes"):
        load(tmp_path, data)


def external_model(folder, location, **entries):
    weight = tensor("w", np.zeros(4, np.float32), {"location": location, **entries})
    nodes = [node("Add", ["x", "w"], ["y"])]
    return load(
        folder, model_bytes(nodes, [value_info("x", [4])], [value_info("y", [4])], [weight])
    )


def test_external_data_are_mapped(tmp_path):
    values = np.arange(1028, dtype=np.float32)
    values.tofile(tmp_path / "weights.bin")
    model = external_model(tmp_path, "weights.bin", offset=4096, length=16)
    np.testing.assert_array_equal(model(x=np.ones(4, np.float32))["y"], values[1024:] + 1)


@pytest.mark.parametrize(
    "location", ["../secret.bin", "/etc/passwd", "link.bin", "twin.bin", "sub/../../secret.bin", ""]
)
def test_external_data_stay_in_the_folder(tmp_path, location):
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    secret = tmp_path / "secret.bin"
    secret.write_bytes(b"\0" * 16)
    (folder / "link.bin").symlink_to(secret)
    os.link(secret, folder / "twin.bin")
    with pytest.raises(tf.errors.InvalidArgumentError):
        external_model(folder, location)


def test_external_data_are_within_their_file(tmp_path):
    (tmp_path / "weights.bin").write_bytes(b"\0" * 16)
    for entries in (
        {"offset": 4},
        {"offset": 1 << 62, "length": 16},
        {"length": 8},
        {"offset": "-4"},
    ):
        with pytest.raises(tf.errors.DataLossError):
            external_model(tmp_path, "weights.bin", **entries)


# --- memory ----------------------------------------------------------------------------------


def test_loading_and_calling_stays_flat(tmp_path):
    x = np.ones((4, 3), np.float32)

    def once():
        model, _ = dense(tmp_path)
        model(x=x)

    flat.assert_flat(once, rounds=50)


# --- writing ---------------------------------------------------------------------------------


def test_what_is_written_comes_back(tmp_path):
    w = tf.Variable(np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32))

    @tf.function
    def both(x):
        hidden = tf.nn.gelu(tf.matmul(x, w) + 1.0)
        return tf.nn.softmax(hidden), tf.reduce_mean(tf.square(x), axis=1, keepdims=True)

    path = tmp_path / "both.onnx"
    spec = tf.TensorSpec([None, 3], tf.float32, name="x")
    tf.onnx.save(both, path, [spec], output_names=["p", "m"])
    model = tf.onnx.load(path)
    assert [port.name for port in model.outputs] == ["p", "m"]
    for rows in (1, 5):
        x = np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32)
        results = model(x=x)
        for name, wanted in zip("pm", both(tf.constant(x)), strict=True):
            np.testing.assert_allclose(results[name], wanted, rtol=1e-5, atol=1e-6)


def test_pictures_are_written(tmp_path):
    filters = tf.constant(np.random.default_rng(1).standard_normal((3, 3, 2, 4)).astype(np.float32))

    @tf.function
    def net(x):
        y = tf.nn.relu(tf.nn.conv2d(x, filters, strides=2, padding="SAME"))
        y = tf.nn.max_pool2d(y, 2, 1, "VALID")
        return tf.reshape(y, [tf.shape(y)[0], -1])

    path = tmp_path / "net.onnx"
    tf.onnx.save(net, path, [tf.TensorSpec([None, 9, 8, 2], tf.float32, name="x")])
    x = np.random.default_rng(2).standard_normal((3, 9, 8, 2)).astype(np.float32)
    wanted = net(tf.constant(x))
    np.testing.assert_allclose(tf.onnx.load(path)(x=x)["output_0"], wanted, rtol=1e-4, atol=1e-5)


def test_what_cannot_be_written_is_listed(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([3, 3], tf.float32)])
    def odd(x):
        return tf.linalg.cholesky(x), tf.math.lgamma(x)

    path = tmp_path / "odd.onnx"
    with pytest.raises(tf.errors.UnimplementedError, match=r"cholesky, .*\n  lgamma, "):
        tf.onnx.save(odd, path)
    assert not path.exists()
