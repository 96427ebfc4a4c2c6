"""The model server: TensorFlow Serving's REST API and the Open Inference Protocol."""

import base64
import shutil
import socket
import struct
import subprocess
import threading
import time

import numpy as np
import pytest
import serving

if not serving.is_built():
    pytest.skip("the server is not built", allow_module_level=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    serving.save_linear(folder / "linear")
    serving.save_many(folder / "many")
    serving.save_slow(folder / "slow")
    options = ["--max-body", "100KiB", "--label", "linear:stable=1", "--admin", "local"]
    with serving.Server(folder, *options) as running:
        yield running


# --- TensorFlow Serving --------------------------------------------------------------------------


def test_rows_and_columns(server):
    rows = [[1, 2, 3], [0.5, 0, -1e0]]
    answer = server.predict("linear", {"instances": rows})
    assert answer.status == 200 and answer.headers["Content-Type"] == "application/json"
    assert answer.json == {"predictions": [[12.0, 12.0], [-1.0, -1.0]]}
    assert server.predict("linear", {"inputs": rows}).json == {
        "outputs": [[12.0, 12.0], [-1.0, -1.0]]
    }
    assert server.predict("linear", {"inputs": {"x": rows}}).status == 200
    assert server.predict("linear", {"instances": [{"x": r} for r in rows]}).json == answer.json
    named = {"signature_name": "serving_default", "instances": rows}
    assert server.predict("linear", named).json == answer.json


def test_versions_and_labels(server):
    body = {"instances": [[1, 1, 1]]}
    for path in ("linear/versions/1", "linear/labels/stable", "linear"):
        assert server.predict(path, body).json == {"predictions": [[6.0, 6.0]]}
    assert server.predict("linear/versions/2", body).status == 404
    assert server.predict("linear/labels/none", body).status == 404
    assert server.predict("many/labels/stable", body).status == 404  # it is another model's
    assert server.predict("linear/versions/x", body).status == 400


def test_several_inputs_and_texts(server):
    encoded = base64.b64encode(b"b\xff").decode()
    rows = [{"number": 1, "text": "a"}, {"number": -2, "text": {"b64": encoded}}]
    got = server.predict("many", {"instances": rows}).json["predictions"]
    assert [r["twice"] for r in got] == [2, -4]
    assert [base64.b64decode(r["upper_bytes"]["b64"]) for r in got] == [b"A", b"B\xff"]
    columns = {"number": [5], "text": ["é"]}
    got = server.predict("many", {"inputs": columns}).json["outputs"]
    assert got["twice"] == [10]
    assert base64.b64decode(got["upper_bytes"][0]["b64"]).decode() in ("É", "é")


def test_status_and_metadata(server):
    state = {"version": "1", "state": "AVAILABLE",
             "status": {"error_code": "OK", "error_message": ""}}  # fmt: skip
    assert server.get("/v1/models/linear").json == {"model_version_status": [state]}
    assert server.get("/v1/models/linear/versions/1").json == {"model_version_status": [state]}
    assert server.get("/v1/models/other").status == 404
    data = server.get("/v1/models/linear/metadata").json
    assert data["model_spec"] == {"name": "linear", "signature_name": "", "version": "1"}
    x = data["metadata"]["signature_def"]["signature_def"]["serving_default"]["inputs"]["x"]
    assert x["dtype"] == "DT_FLOAT"
    assert [d["size"] for d in x["tensor_shape"]["dim"]] == ["-1", "3"]


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"3", b'{"instances": 3}', b'{"instances": []}', b"{}",
    b'{"instances": [[1, 2]]}', b'{"instances": [[1, 2, 3], [1, 2]]}',
    b'{"instances": [[1, 2, [3]]]}', b'{"instances": [[1, 2, "3"]]}',
    b'{"instances": [[1, 2, null]]}', b'{"instances": [{"z": [1, 2, 3]}]}',
    b'{"inputs": {"x": [[1, 2, 3]], "z": 3}}', b'{"inputs": {}}',
    b'{"inputs": [[1, 2, 3]], "instances": [[1, 2, 3]]}',
    b'{"instances": [[1, 2, 3]], "signature_name": "none"}',
    b'{"instances": [[1, 2, 3]], "signature_name": 3}',
    b'{"instances": ' + b"[" * 500 + b"]" * 500 + b"}",
    b'{"instances": [[1e999, 2, 3]]}', b"\xff\xfe", b'{"instances": [[1, 2, 3]]',
])  # fmt: skip
def test_bad_requests_are_told_what_is_wrong(server, body):
    answer = server.predict("linear", body)
    assert answer.status == 400, answer.body
    assert answer.json["error"]


def test_values_that_do_not_fit_the_dtype(server):
    for number in ("1.5", "9223372036854775808", "true", '"1"'):
        body = f'{{"instances": [{{"number": {number}, "text": "a"}}]}}'
        assert server.predict("many", body).status == 400
    body = {"instances": [{"number": 1, "text": {"b64": "?"}}]}
    assert "base64" in server.predict("many", body).json["error"]


def test_paths_and_methods(server):
    assert server.get("/v1/models/linear:predict").status == 400
    assert server.post("/v1/models/linear:classify", {}).status == 501
    assert server.get("/nothing").status == 404
    assert server.get("/v1/models/..%2f..%2fetc").status == 404
    assert server.get("/v1/models/%zz").status == 400
    assert server.ask("DELETE", "/v1/models/linear").status == 400


# --- the Open Inference Protocol -----------------------------------------------------------------


def test_health_and_metadata(server):
    assert server.get("/v2/health/live").status == 200
    assert server.get("/v2/health/ready").status == 200
    assert server.get("/v2").json["name"] == "tidemark"
    assert server.get("/v2/models/linear/ready").status == 200
    assert server.get("/v2/models/linear/versions/7/ready").status == 404
    assert server.get("/v2/models/linear").json == {
        "name": "linear", "versions": ["1"], "platform": "tidemark",
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}],
        "outputs": [{"name": "output_0", "datatype": "FP32", "shape": [-1, 2]}],
    }  # fmt: skip


def test_infer_with_json_and_with_bytes(server):
    data = {"id": "seven", "inputs": [
        {"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3]},
    ]}  # fmt: skip
    got = server.post("/v2/models/linear/infer", data).json
    assert got == {"model_name": "linear", "model_version": "1", "id": "seven", "outputs": [
        {"name": "output_0", "datatype": "FP32", "shape": [1, 2], "data": [12.0, 12.0]},
    ]}  # fmt: skip
    head = (b'{"inputs": [{"name": "x", "datatype": "FP32", "shape": [2, 3], "parameters": '
            b'{"binary_data_size": 24}}], "outputs": [{"name": "output_0", "parameters": '
            b'{"binary_data": true}}]}')  # fmt: skip
    body = head + np.arange(6, dtype="<f4").tobytes()
    headers = {"Inference-Header-Content-Length": str(len(head))}
    answer = server.post("/v2/models/linear/versions/1/infer", body, headers=headers)
    length = int(answer.headers["Inference-Header-Content-Length"])
    values = np.frombuffer(answer.body[length:], "<f4")
    np.testing.assert_array_equal(values, [6, 6, 24, 24])


@pytest.mark.parametrize("change", [
    {"datatype": "FP64"}, {"datatype": "FP99"}, {"shape": [1, 4]}, {"shape": [-1, 3]},
    {"shape": [2**62, 2**62]}, {"shape": "x"}, {"name": "z"}, {"data": [1, 2]}, {"data": "abc"},
    {"data": None}, {"parameters": {"binary_data_size": 12}},
    {"parameters": {"binary_data_size": -1}},
])  # fmt: skip
def test_bad_infer_requests(server, change):
    given = {"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3], **change}
    answer = server.post("/v2/models/linear/infer", {"inputs": [given]})
    assert answer.status == 400 and answer.json["error"]


def test_bad_binary_requests(server):
    head = b'{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "parameters": ' \
           b'{"binary_data_size": 8}}, {"name": "number", "datatype": "INT64", "shape": [1], ' \
           b'"data": [1]}]}'  # fmt: skip
    good = server.post("/v2/models/many/infer", head + struct.pack("<I", 4) + b"word",
                       headers={"Inference-Header-Content-Length": str(len(head))})  # fmt: skip
    assert good.status == 200
    for rest, length in [(struct.pack("<I", 5) + b"word", len(head)), (b"", len(head)),
                         (b"12345678", len(head)), (b"12345678", 10**9), (b"", -1)]:  # fmt: skip
        headers = {"Inference-Header-Content-Length": str(length)}
        assert server.post("/v2/models/many/infer", head + rest, headers=headers).status == 400


def test_repository_and_statistics(server):
    index = {(m["name"], m["state"]) for m in server.post("/v2/repository/index").json}
    assert ("slow", "READY") in index
    assert server.post("/v2/repository/models/slow/unload").status == 200
    assert server.predict("slow", {"instances": [1]}).status == 404
    assert server.get("/v2/models/slow/ready").status == 404
    assert server.post("/v2/repository/models/slow/load").status == 200
    assert server.predict("slow", {"instances": [1]}).status == 200
    assert server.post("/v2/repository/models/none/load").status == 404
    stats = server.get("/v2/models/slow/stats").json["model_stats"][0]
    assert stats["name"] == "slow" and stats["inference_stats"]["success"]["count"] == 1
    assert len(server.get("/v2/models/stats").json["model_stats"]) == 3


def test_the_client_of_triton(server):
    client = pytest.importorskip("tritonclient.http")
    connection = client.InferenceServerClient(f"127.0.0.1:{server.port}")
    try:
        assert connection.is_server_live() and connection.is_server_ready()
        assert connection.is_model_ready("linear")
        assert connection.get_model_metadata("linear")["versions"] == ["1"]
        assert connection.get_model_config("linear")["name"] == "linear"
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        for binary in (True, False):
            given = client.InferInput("x", [2, 3], "FP32")
            given.set_data_from_numpy(x, binary_data=binary)
            wanted = client.InferRequestedOutput("output_0", binary_data=binary)
            got = connection.infer("linear", [given], outputs=[wanted]).as_numpy("output_0")
            np.testing.assert_array_equal(got, x @ np.full((3, 2), 2.0))
        names = {m["name"] for m in connection.get_model_repository_index()}
        assert names == {"linear", "many", "slow"}
        connection.unload_model("many")
        connection.load_model("many")
        assert connection.get_inference_statistics("linear")["model_stats"]
        texts = client.InferInput("text", [1], "BYTES")
        texts.set_data_from_numpy(np.array([b"abc"], dtype=object))
        number = client.InferInput("number", [1], "INT64")
        number.set_data_from_numpy(np.array([4]))
        assert connection.infer("many", [texts, number]).as_numpy("twice").tolist() == [8]
    finally:
        connection.close()


# --- limits and clients that misbehave -----------------------------------------------------------


def test_bodies_that_are_too_large(server):
    answer = server.ask("POST", "/v1/models/linear:predict", b" " * 200_000,
                        connection=server.connect())  # fmt: skip
    assert answer.status == 413 and "--max-body" in answer.json["error"]
    assert server.predict("linear", {"instances": [[1, 2, 3]]}).status == 200


def test_what_is_no_http(server):
    for text in (b"\x16\x03\x01 hello\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"POST\r\n\r\n",
                 b"GET /" + b"a" * 50_000 + b" HTTP/1.1\r\n\r\n"):  # fmt: skip
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
            raw.sendall(text)
            answer = raw.recv(200)
        assert answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 431"), (text[:20], answer)
    assert server.get("/v2/health/live").status == 200


def test_slow_and_broken_clients_do_not_disturb_others(server):
    raws = []
    for i in range(200):
        raw = socket.create_connection(("127.0.0.1", server.port))
        raw.sendall(b"POST /v1/models/linear:predict HTTP/1.1\r\nContent-Length: 500\r\n"[: 20 + i])
        raws.append(raw)
    began = time.time()
    for _ in range(200):
        assert server.predict("linear", {"instances": [[1, 2, 3]]}).status == 200
    assert time.time() - began < 10
    for raw in raws:
        raw.close()


def test_metrics_and_the_status_page(server):
    before = server.metric('nv_inference_request_success{model="linear"')
    server.predict("linear", {"instances": [[1, 2, 3]]})
    assert server.metric('nv_inference_request_success{model="linear"') == before + 1
    text = server.get("/metrics").body.decode()
    for name in (":tensorflow:serving:request_count{", "tidemark_model_weight_bytes{",
                 "process_resident_memory_bytes ", 'tidemark_refused_total{reason="queue_full"}',
                 ':tensorflow:serving:request_latency_bucket{'):  # fmt: skip
        assert name in text
    page = server.get("/")
    assert page.headers["Content-Type"].startswith("text/html") and b"<table>" in page.body
    status = server.get("/status.json").json
    assert status["ready"] and {m["name"] for m in status["models"]} >= {"linear"}


def test_random_requests_get_answers(server):
    """Bodies that are nearly right: any answer but a crash."""
    random = np.random.default_rng(4)
    whole = (
        b'{"signature_name": "serving_default", "instances": [[1.5, -2, 3e2], [0, 1, 2]], "x": {}}'
    )
    infer = b'{"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3]}]}'
    statuses = set()
    for _ in range(1500):
        path, body = (
            ("/v1/models/linear:predict", whole)
            if random.random() < 0.5
            else ("/v2/models/linear/infer", infer)
        )
        data = bytearray(body)
        for _ in range(random.integers(1, 4)):
            at = random.integers(0, len(data))
            kind = random.integers(0, 3)
            if kind == 0:
                data[at] = random.choice(list(b'[]{}",:0123456789e-+.\\ tfn\x00\xff'))
            elif kind == 1:
                del data[at : at + random.integers(1, 6)]
            else:
                data[at:at] = data[: random.integers(1, 9)]
        headers = {}
        if random.random() < 0.2:
            headers["Inference-Header-Content-Length"] = str(random.integers(-2, len(data) + 3))
        statuses.add(server.post(path, bytes(data), headers=headers).status)
    assert statuses <= {200, 400, 404}
    assert server.predict("linear", {"instances": [[1, 2, 3]]}).status == 200


def test_answers_are_right_under_load(server):
    wrong = []

    def ask(seed):
        random = np.random.default_rng(seed)
        connection = server.connect()
        for _ in range(100):
            x = random.integers(-9, 9, (random.integers(1, 4), 3)).astype(float)
            answer = server.predict("linear", {"inputs": x.tolist()}, connection=connection)
            if answer.json != {"outputs": (x @ np.full((3, 2), 2.0)).tolist()}:
                wrong.append(answer.body)
        connection.close()

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no Chromium")
def test_the_status_page_in_a_browser(server, tmp_path):
    server.predict("linear", {"instances": [[1, 2, 3]]})
    done = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000",
         f"--user-data-dir={tmp_path}", "--dump-dom", f"http://127.0.0.1:{server.port}/"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    page = done.stdout
    assert '<span id="state">ready</span>' in page
    assert "MiB resident" in page and "<td>linear</td><td>1</td>" in page
