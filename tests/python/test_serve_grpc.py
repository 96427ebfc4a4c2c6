"""tidemark serve over gRPC: TensorFlow Serving's services through stubs made from our .proto files,
the Open Inference Protocol through tritonclient. Runs where the server was built with gRPC."""

import importlib
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import serving

grpc = pytest.importorskip("grpc")
protoc = pytest.importorskip("grpc_tools.protoc")
triton = pytest.importorskip("tritonclient.grpc")
InferenceServerException = importlib.import_module("tritonclient.utils").InferenceServerException
if not serving.is_built():
    pytest.skip("built without the server", allow_module_level=True)

PROTOS = Path(__file__).parents[2] / "src/tidemark/serve/grpc/protos"


def start(folder, *options, **kwargs):
    """A server, and its gRPC address."""
    try:
        server = serving.Server(folder, "--grpc-port", "0", "--admin", "local", *options, **kwargs)
    except AssertionError as error:
        if "without gRPC" in str(error):
            pytest.skip("the server was built without gRPC")
        raise
    line = next(line for line in server.log if "gRPC on" in line)
    return server, "127.0.0.1:" + line.strip().rpartition(":")[2]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    serving.save_linear(folder / "linear", 2.0, version=1)
    serving.save_linear(folder / "linear", 3.0, version=2)
    serving.save_many(folder / "many")
    serving.save_slow(folder / "slow")
    server, address = start(
        folder, "--versions", "2", "--label", "linear:stable=1", "--max-body", "1MiB"
    )
    with server:
        yield server, address


@pytest.fixture(scope="module")
def address(running):
    return running[1]


class Stubs:
    """What protoc makes of our files."""

    def __init__(self, folder):
        names = ["tensorflow", "tensorflow_serving"]
        code = protoc.main(
            ["protoc", f"-I{PROTOS}", f"-I{Path(protoc.__file__).parent / '_proto'}",
             f"--python_out={folder}", f"--grpc_python_out={folder}",
             *(str(PROTOS / f"{name}.proto") for name in names)]
        )  # fmt: skip
        assert code == 0
        sys.path.insert(0, str(folder))
        try:
            self.tf = importlib.import_module("tensorflow_pb2")
            self.serving = importlib.import_module("tensorflow_serving_pb2")
            self.grpc = importlib.import_module("tensorflow_serving_pb2_grpc")
        finally:
            sys.path.remove(str(folder))

    def tensor(self, values, shape, dtype="DT_FLOAT", field="float_val"):
        proto = self.tf.TensorProto(dtype=self.tf.DataType.Value(dtype))
        for size in shape:
            proto.tensor_shape.dim.add(size=size)
        if field == "tensor_content":
            proto.tensor_content = values
        else:
            getattr(proto, field).extend(values)
        return proto

    def request(self, model, inputs, version=None, label=None, signature=""):
        out = self.serving.PredictRequest(inputs=inputs)
        out.model_spec.name, out.model_spec.signature_name = model, signature
        if version is not None:
            out.model_spec.version.value = version
        if label is not None:
            out.model_spec.version_label = label
        return out


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    return Stubs(tmp_path_factory.mktemp("stubs"))


@pytest.fixture(scope="module")
def channel(address):
    with grpc.insecure_channel(address) as made:
        yield made


@pytest.fixture(scope="module")
def predict(stubs, channel):
    return stubs.grpc.PredictionServiceStub(channel).Predict


def code_of(call, *args, **kwargs):
    with pytest.raises(grpc.RpcError) as caught:
        call(*args, timeout=30, **kwargs)
    assert caught.value.details()
    return caught.value.code()


# --- TensorFlow Serving --------------------------------------------------------------------------


def test_predict_with_lists_and_with_bytes(stubs, predict):
    x = np.array([[1, 2, 3], [4, 5, 6]], "float32")
    for values, field in ((x.ravel(), "float_val"), (x.tobytes(), "tensor_content")):
        given = stubs.tensor(values, [2, 3], field=field)
        answer = predict(stubs.request("linear", {"x": given}), timeout=30)
        assert answer.model_spec.name == "linear"
        assert answer.model_spec.version.value == 2
        assert answer.model_spec.signature_name == "serving_default"
        out = answer.outputs["output_0"]
        assert [dim.size for dim in out.tensor_shape.dim] == [2, 2]
        assert list(out.float_val) == [18, 18, 45, 45]


def test_a_list_shorter_than_the_shape_repeats_its_last(stubs, predict):
    answer = predict(
        stubs.request("linear", {"x": stubs.tensor([1, 2], [2, 3])}, version=1), timeout=30
    )
    assert list(answer.outputs["output_0"].float_val) == [10, 10, 12, 12]


def test_versions_and_labels(stubs, predict):
    x = {"x": stubs.tensor([1, 1, 1], [1, 3])}
    for kwargs, value in (({"version": 1}, 6), ({"label": "stable"}, 6), ({"version": 2}, 9)):
        answer = predict(stubs.request("linear", x, **kwargs), timeout=30)
        assert list(answer.outputs["output_0"].float_val) == [value, value]
    assert code_of(predict, stubs.request("linear", x, version=7)) == grpc.StatusCode.NOT_FOUND
    assert code_of(predict, stubs.request("linear", x, label="new")) == grpc.StatusCode.NOT_FOUND
    assert code_of(predict, stubs.request("other", x)) == grpc.StatusCode.NOT_FOUND


def test_texts_and_filters(stubs, predict):
    inputs = {
        "number": stubs.tensor([1, 2], [2], "DT_INT64", "int64_val"),
        "text": stubs.tensor([b"a", b"b\xff\x00"], [2], "DT_STRING", "string_val"),
    }
    answer = predict(stubs.request("many", inputs), timeout=30)
    assert list(answer.outputs["twice"].int64_val) == [2, 4]
    assert list(answer.outputs["upper_bytes"].string_val) == [b"A", b"B\xff\x00"]
    request = stubs.request("many", inputs)
    request.output_filter.append("twice")
    assert list(predict(request, timeout=30).outputs) == ["twice"]
    request.output_filter.append("thrice")
    assert code_of(predict, request) == grpc.StatusCode.INVALID_ARGUMENT


def test_bad_predict_requests_are_told_what_is_wrong(stubs, predict):
    good = stubs.tensor([1, 2, 3], [1, 3])
    many_sizes = stubs.tensor([1], [1] * 60)
    for inputs in (
        {},
        {"y": good},
        {"x": good, "y": good},
        {"x": stubs.tensor([1, 2, 3], [1, 3], "DT_INT32", "int_val")},
        {"x": stubs.tensor([1, 2, 3, 4], [1, 3])},
        {"x": stubs.tensor([1, 2, 3], [-1, 3])},
        {"x": stubs.tensor(b"abc", [1, 3], field="tensor_content")},
        {"x": stubs.tensor([1, 2], [1, 2])},
        {"x": many_sizes},
        {"x": stubs.tensor([1], [2**40, 2**40])},
    ):
        code = code_of(predict, stubs.request("linear", inputs))
        assert code == grpc.StatusCode.INVALID_ARGUMENT, inputs
    # A message of a few bytes that speaks of gigabytes.
    code = code_of(predict, stubs.request("linear", {"x": stubs.tensor([1], [2**30, 3])}))
    assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert code_of(predict, stubs.request("", {"x": good})) == grpc.StatusCode.INVALID_ARGUMENT
    code = code_of(predict, stubs.request("linear", {"x": good}, signature="none"))
    assert code == grpc.StatusCode.FAILED_PRECONDITION
    large = stubs.tensor(bytes(2 << 20), [2 << 17, 2], field="tensor_content")
    code = code_of(predict, stubs.request("linear", {"x": large}))
    assert code == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_metadata_and_status(stubs, channel):
    request = stubs.serving.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = "linear"
    answer = stubs.grpc.PredictionServiceStub(channel).GetModelMetadata(request, timeout=30)
    signatures = stubs.serving.SignatureDefMap()
    assert answer.metadata["signature_def"].Unpack(signatures)
    x = signatures.signature_def["serving_default"].inputs["x"]
    assert x.dtype == stubs.tf.DT_FLOAT
    assert [dim.size for dim in x.tensor_shape.dim] == [-1, 3]
    status = stubs.serving.GetModelStatusRequest()
    status.model_spec.name = "linear"
    models = stubs.grpc.ModelServiceStub(channel)
    versions = models.GetModelStatus(status, timeout=30).model_version_status
    assert [(each.version, each.state) for each in versions] == [(2, 30), (1, 30)]
    status.model_spec.name = "other"
    assert code_of(models.GetModelStatus, status) == grpc.StatusCode.NOT_FOUND


def test_deadlines_and_cancellation(running, stubs, predict):
    server, _ = running
    slow = {"x": stubs.tensor([3_000_000], [1], "DT_INT64", "int64_val")}
    assert code_of_soon(predict, stubs.request("slow", slow)) == grpc.StatusCode.DEADLINE_EXCEEDED
    running_calls = [predict.future(stubs.request("slow", slow), timeout=60) for _ in range(8)]
    time.sleep(0.2)
    for call in running_calls[4:]:
        call.cancel()
    for call in running_calls[:4]:
        assert list(call.result().outputs["output_0"].int64_val) == [3_000_000]
    server.wait_for(
        lambda: server.metric('tidemark_refused_total{reason="client_gone"') >= 1, seconds=60
    )


def code_of_soon(call, request):
    with pytest.raises(grpc.RpcError) as caught:
        call(request, timeout=0.05)
    return caught.value.code()


# --- the Open Inference Protocol -----------------------------------------------------------------


@pytest.fixture(scope="module")
def client(address):
    with triton.InferenceServerClient(address) as made:
        yield made


def infer_linear(client, rows, **kwargs):
    x = triton.InferInput("x", list(rows.shape), "FP32")
    x.set_data_from_numpy(rows)
    return client.infer("linear", [x], **kwargs)


def test_the_client_of_triton(client):
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("linear")
    assert not client.is_model_ready("other")
    assert client.get_server_metadata().name == "tidemark"
    metadata = client.get_model_metadata("linear")
    assert list(metadata.versions) == ["2", "1"]
    assert metadata.inputs[0].datatype == "FP32"
    assert list(metadata.inputs[0].shape) == [-1, 3]
    config = client.get_model_config("linear").config
    assert config.input[0].name == "x"
    assert list(config.output[0].dims) == [-1, 2]
    rows = np.arange(6, dtype="float32").reshape(2, 3)
    answer = infer_linear(client, rows, request_id="seven")
    np.testing.assert_array_equal(answer.as_numpy("output_0"), [[9, 9], [36, 36]])
    assert answer.get_response().id == "seven"
    answer = infer_linear(client, rows, model_version="1")
    np.testing.assert_array_equal(answer.as_numpy("output_0"), [[6, 6], [24, 24]])
    statistics = client.get_inference_statistics("linear", "2").model_stats[0]
    assert statistics.inference_stats.success.count >= 1
    assert statistics.memory_usage[0].byte_size == 24


def test_texts_through_triton(client):
    number = triton.InferInput("number", [2], "INT64")
    number.set_data_from_numpy(np.array([5, 6]))
    text = triton.InferInput("text", [2], "BYTES")
    text.set_data_from_numpy(np.array([b"ab", b"c"], dtype=object))
    answer = client.infer("many", [number, text], outputs=[triton.InferRequestedOutput("twice")])
    np.testing.assert_array_equal(answer.as_numpy("twice"), [10, 12])
    assert answer.as_numpy("upper_bytes") is None
    answer = client.infer("many", [number, text])
    assert list(answer.as_numpy("upper_bytes")) == [b"AB", b"C"]


def test_contents_without_raw_bytes(client):
    messages = sys.modules["tritonclient.grpc.service_pb2"]
    request = messages.ModelInferRequest(model_name="linear", model_version="1")
    x = request.inputs.add(name="x", datatype="FP32", shape=[1, 3])
    x.contents.fp32_contents.extend([1, 2, 3])
    answer = client._client_stub.ModelInfer(request, timeout=30)
    assert answer.raw_output_contents[0] == np.array([12, 12], "float32").tobytes()
    for change in ("count", "twice", "name", "datatype", "shape", "raw", "version"):
        bad = messages.ModelInferRequest()
        bad.CopyFrom(request)
        if change == "count":
            bad.inputs[0].contents.fp32_contents.append(4)
        elif change == "twice":
            bad.inputs.add().CopyFrom(bad.inputs[0])
        elif change == "name":
            bad.inputs[0].name = "y"
        elif change == "datatype":
            bad.inputs[0].datatype = "FP31"
        elif change == "shape":
            bad.inputs[0].shape[0] = -1
        elif change == "raw":
            bad.raw_input_contents.append(b"123")
        else:
            bad.model_version = "one"
        code = code_of(client._client_stub.ModelInfer, bad)
        assert code == grpc.StatusCode.INVALID_ARGUMENT, change


def test_the_repository(client):
    index = {(m.name, m.version): m.state for m in client.get_model_repository_index().models}
    assert index[("linear", "2")] == "READY"
    client.unload_model("many")
    assert not client.is_model_ready("many")
    client.load_model("many")
    assert client.is_model_ready("many")
    with pytest.raises(InferenceServerException, match="other"):
        client.load_model("other")


# --- the server ----------------------------------------------------------------------------------


def test_tokens_and_tls(tmp_path, stubs):
    tls = pytest.importorskip("test_serve_tls")
    certificate, key = tls.make_certificate(tmp_path)
    (tmp_path / "token").write_text("sesame\n")
    serving.save_linear(tmp_path / "models" / "linear")
    server, address = start(
        tmp_path / "models", "--tls-certificate", str(certificate), "--tls-key", str(key),
        "--token-file", str(tmp_path / "token"), tls=tls.trusting(certificate),
    )  # fmt: skip
    credentials = grpc.ssl_channel_credentials(certificate.read_bytes())
    request = stubs.request("linear", {"x": stubs.tensor([1, 1, 1], [1, 3])})
    with server, grpc.secure_channel(address, credentials) as channel:
        call = stubs.grpc.PredictionServiceStub(channel).Predict
        assert code_of(call, request) == grpc.StatusCode.UNAUTHENTICATED
        answer = call(request, metadata=[("authorization", "Bearer sesame")], timeout=30)
        assert list(answer.outputs["output_0"].float_val) == [6, 6]
        with grpc.insecure_channel(address) as plain:
            other = stubs.grpc.PredictionServiceStub(plain).Predict
            assert code_of(other, request) == grpc.StatusCode.UNAVAILABLE


def test_sigterm_answers_what_has_come_in(tmp_path, stubs):
    serving.save_slow(tmp_path / "slow")
    server, address = start(tmp_path)
    with server, grpc.insecure_channel(address) as channel:
        call = stubs.grpc.PredictionServiceStub(channel).Predict
        slow = {"x": stubs.tensor([2_000_000], [1], "DT_INT64", "int64_val")}
        under_way = call.future(stubs.request("slow", slow), timeout=60)
        server.wait_for(lambda: server.metric('tidemark_slots{state="busy"') == 1)
        server.send_signal(signal.SIGTERM)
        assert list(under_way.result().outputs["output_0"].int64_val) == [2_000_000]
        assert server.wait() == 0


def test_answers_are_right_and_memory_is_flat_under_load(running, stubs, predict):
    server, _ = running
    wrong = []

    def ask(number, count):
        value = float(number + 1)
        good = stubs.request("linear", {"x": stubs.tensor([value] * 3, [1, 3])}, version=1)
        bad = stubs.request("linear", {"x": stubs.tensor([value] * 4, [1, 4])}, version=1)
        for i in range(count):
            answer = predict(good, timeout=30)
            if list(answer.outputs["output_0"].float_val) != [6 * value, 6 * value]:
                wrong.append(answer)
            if i % 8 == 0 and code_of(predict, bad) != grpc.StatusCode.INVALID_ARGUMENT:
                wrong.append("bad")

    def many(count):
        threads = [threading.Thread(target=ask, args=(n, count)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    many(500)
    before = server.resident_bytes()
    many(1500)
    assert not wrong
    assert server.resident_bytes() - before < 2 << 20
    assert server.metric("tidemark_requests_in_flight_bytes") == 0
