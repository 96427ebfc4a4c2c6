"""What hostile clients, models and neighbours did to the server once, and must not do again."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

import numpy as np
import pytest
import serving

import tidemark as tf

pytestmark = [
    pytest.mark.unwatched,
    pytest.mark.skipif(not serving.is_built(), reason="the server is not built"),
]

ROW = {"instances": [[1.0, 2.0, 3.0]]}
FOREVER = 10**12


def raw(server, data, seconds=5.0):
    """Sends the bytes and reads until the server closes or the time is up."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=seconds) as s:
        s.sendall(data)
        out = b""
        try:
            while part := s.recv(65536):
                out += part
        except TimeoutError:
            pass
        return out


def post(path, body, *headers):
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def save_wide(folder):
    """A row of 100,000 for each number."""
    serving.save(
        folder, lambda x: x[:, None] + tf.zeros([100_000]), tf.TensorSpec([None], tf.float32, "x")
    )


@pytest.fixture
def linear(tmp_path):
    serving.save_linear(tmp_path / "linear")
    return tmp_path


# --- files and folders ---------------------------------------------------------------------------


def test_idle_connections_do_not_unload_models_nor_burn_a_core(linear):
    with serving.Server(linear, files=1024) as server:
        assert server.predict("linear", ROW).status == 200
        idle = []
        try:
            for _ in range(1100):
                s = socket.socket()
                s.setblocking(False)
                s.connect_ex(("127.0.0.1", server.port))
                idle.append(s)
            time.sleep(0.5)
            began, used = time.monotonic(), cpu_seconds(server.pid)
            time.sleep(1.5)
            busy = (cpu_seconds(server.pid) - used) / (time.monotonic() - began)
            assert server.predict("linear", ROW).status == 200
            assert busy < 0.5
        finally:
            for s in idle:
                s.close()
        assert not [line for line in server.read_log() if "unloaded" in line]
        server.wait_for(lambda: is_answered(server))


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_answered(server):
    try:
        return server.predict("linear", ROW, connection=server.connect(2)).status == 200
    except OSError:
        return False


def test_a_folder_that_is_away_for_a_moment_unloads_nothing(tmp_path):
    models = tmp_path / "models"
    serving.save_linear(models / "linear")
    with serving.Server(models) as server:
        models.rename(tmp_path / "elsewhere")
        time.sleep(0.5)
        assert server.predict("linear", ROW).status == 200
        assert any("cannot look at" in line for line in server.read_log())
        (tmp_path / "elsewhere").rename(models)
        serving.save_linear(models / "other")
        server.wait_for(lambda: server.predict("other", ROW).status == 200)
        assert not [line for line in server.read_log() if "unloaded" in line]


def start_without_thread(folder, number, library):
    """Status and last words of a server for which that thread does not start. One that runs all the
    same is told to end."""
    command = [serving.program(), "--models", str(folder), "--port", "0", "--drain-timeout", "1"]
    environment = {**os.environ, "LD_PRELOAD": str(library), "FAIL_THREAD": str(number)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        said = ""
        for line in process.stderr:
            said = line
            if "ready on" in line:
                process.send_signal(signal.SIGTERM)
        return process.wait(20), said
    finally:
        process.kill()
        process.stderr.close()


def test_a_server_without_threads_says_so_and_ends(linear):
    root = pathlib.Path(__file__).resolve().parents[2]
    library = next(root.glob("build*/**/libfail_thread.so"), None)
    if library is None:
        pytest.skip("no libfail_thread.so: it comes with the C++ tests")
    statuses = set()
    for number in range(1, 40, 2):
        status, said = start_without_thread(linear, number, library)
        statuses.add(status)
        if status != 0:
            assert status == 2 and "cannot start a thread" in said, (number, status, said)
    assert statuses == {0, 2}


# --- bytes ---------------------------------------------------------------------------------------


def test_announced_bytes_are_not_reserved(linear):
    with serving.Server(linear) as server:
        liars = []
        for _ in range(4):  # all that may be in flight
            s = socket.create_connection(("127.0.0.1", server.port))
            s.sendall(post("/v1/models/linear:predict", b"", f"Content-Length: {64 << 20}"))
            liars.append(s)
        time.sleep(0.2)
        for _ in range(20):
            assert server.predict("linear", ROW).status == 200
        for s in liars:
            s.close()


def test_received_bytes_are_bounded(linear):
    with serving.Server(linear, "--max-in-flight", "1MiB") as server:
        body = b"[" + b"1," * (1 << 20)
        answer = raw(server, post("/v1/models/linear:predict", body, f"Content-Length: {64 << 20}"))
        assert answer.startswith(b"HTTP/1.1 503") and b"1048576" in answer
        assert server.predict("linear", ROW).status == 200


def test_an_output_asked_for_often_is_refused(tmp_path):
    save_wide(tmp_path / "wide")
    with serving.Server(tmp_path, "--memory-limit", "64MiB") as server:
        request = {
            "inputs": [{"name": "x", "datatype": "FP32", "shape": [4], "data": [1, 2, 3, 4]}],
            "outputs": [{"name": "output_0"}] * 200,
        }
        answer = server.post("/v2/models/wide/infer", request)
        assert answer.status == 400 and "twice" in answer.json["error"]


def test_an_answer_that_does_not_fit_is_refused_and_memory_stays_bounded(tmp_path):
    save_wide(tmp_path / "wide")
    with serving.Server(tmp_path, "--memory-limit", "64MiB") as server:
        assert server.predict("wide", {"instances": [1.0]}).status == 200
        before = server.resident_bytes()
        most = 0
        for rows in [40, 80, 120, 140] * 3:  # 140: 56 MB of floats, over 200 MB as text
            answer = server.predict("wide", {"instances": [0.1] * rows})
            assert answer.status in (200, 413, 429)
            most = max(most, server.resident_bytes())
        assert answer.status in (413, 429)
        assert most < before + (64 << 20) + (32 << 20)
        assert server.predict("wide", {"instances": [1.0]}).status == 200


class Watch:
    """The most memory that the server takes meanwhile."""

    def __init__(self, server):
        self.most, self._server, self._is_over = 0, server, threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        while not self._is_over.wait(0.01):
            self.most = max(self.most, self._server.resident_bytes())

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._is_over.set()
        self._thread.join()


MiB = 1 << 20


def test_rows_of_one_number_count_as_what_they_take(tmp_path):
    serving.save(tmp_path / "twice", lambda x: x * 2, tf.TensorSpec([None], tf.float32, "x"))
    with serving.Server(tmp_path, "--memory-limit", "64MiB") as server:
        with Watch(server) as watch:
            statuses = [
                server.predict("twice", '{"instances": [' + "1," * count + "1]}").status
                for count in (500_000, 1_000_000, 1_500_000, 2_000_000, 3_000_000)
            ]
        assert set(statuses) == {200, 413}
        assert watch.most < (64 + 32) * MiB


def opened(server, data, count):
    """Connections that sent these bytes, as far as the server took them, and wait."""
    out = []
    for _ in range(count):
        s = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        out.append(s)
        with contextlib.suppress(OSError):
            s.sendall(data)
    return out


# What many clients send a little of, and never the rest.
BEGUN = {
    "nothing": b"",
    "bodies": post("/v1/models/linear:predict", b" " * 250_000, "Content-Length: 300000"),
    "short bodies": post("/v1/models/linear:predict", b" " * 20_000, "Content-Length: 30000"),
    "fields": post("/v1/models/linear:predict", b"", "Content-Length: 3", *["a:"] * 3900),
    "long headers": b"GET / HTTP/1.1\r\nA: " + b"x" * 16000,
}


@pytest.mark.parametrize("what", BEGUN)
def test_many_that_send_a_little_take_little_and_hold_up_nobody(linear, what):
    with serving.Server(linear, "--memory-limit", "48MiB") as server:
        assert server.predict("linear", ROW).status == 200
        with Watch(server) as watch:
            held = opened(server, BEGUN[what], 900)
            time.sleep(0.3)
            try:
                for _ in range(5):
                    assert server.predict("linear", ROW).status == 200
                    assert server.predict("linear", ROW, connection=server.connect()).status == 200
            finally:
                for s in held:
                    s.close()
        assert watch.most < (48 + 32) * MiB


def test_headers_of_many_fields_are_refused(linear):
    with serving.Server(linear) as server:
        answer = raw(server, post("/v1/models/linear:predict", b"", *["a: b"] * 200), 3)
        assert answer.startswith(b"HTTP/1.1 431") and b"128 fields" in answer


def test_those_who_never_asked_make_room_for_those_who_do(linear):
    with serving.Server(linear, "--max-connections", "40") as server:
        assert server.predict("linear", ROW).status == 200  # its connection is one of them
        silent = opened(server, b"", 40) + opened(server, b"GET / HT", 40)
        time.sleep(0.3)
        for _ in range(10):
            connection = server.connect()
            assert server.predict("linear", ROW, connection=connection).status == 200
            connection.close()
        assert server.predict("linear", ROW).status == 200
        for s in silent:
            s.close()


# A text of the client's, in each place that an error tells of.
LONG_TEXTS = {
    "/v1/models/linear:predict": [
        '{"inputs": {"%s": 1}}', '{"instances": [{"%s": 1, "b": 2}]}',
        '{"signature_name": "%s", "inputs": 1}',
    ],
    "/v2/models/linear/infer": [
        '{"inputs": [{"name": "%s", "datatype": "FP32", "shape": [1], "data": [1]}]}',
        '{"inputs": [{"name": "x", "datatype": "%s", "shape": [1], "data": [1]}]}',
        '{"inputs": [], "outputs": [{"name": "%s"}]}',
    ],
}  # fmt: skip


def test_long_texts_of_a_client_are_not_repeated(linear):
    with serving.Server(linear, "--memory-limit", "128MiB") as server:
        with Watch(server) as watch:
            for path, bodies in LONG_TEXTS.items():
                for body in bodies:
                    answer = server.post(path, (body % ("é" * (12 << 20))).encode())
                    assert answer.status == 400 and len(answer.body) < 2000
                    assert "é" * 100 in answer.json["error"]
        assert watch.most < (128 + 32) * MiB


def test_answers_that_nobody_takes_count(linear):
    """What the server tells of many models is long."""
    for number in range(150):
        shutil.copytree(linear / "linear", linear / f"copy{number}")
    with serving.Server(linear, "--memory-limit", "64MiB") as server:
        assert len(server.get("/metrics").body) > MiB / 4
        request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with Watch(server) as watch:
            held = []
            for _ in range(400):
                s = socket.socket()
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                s.connect(("127.0.0.1", server.port))
                s.sendall(request * 20)
                held.append(s)
            time.sleep(1)
            assert server.predict("linear", ROW).status == 200
        for s in held:
            s.close()
        assert watch.most < (64 + 32) * MiB


# --- lanes ---------------------------------------------------------------------------------------


def slowest(server, model, body, seconds):
    """The largest latency of requests one after the other."""
    connection = server.connect()
    taken, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        assert server.predict(model, body, connection=connection).status == 200
        taken.append(time.perf_counter() - began)
    return max(taken)


def test_a_large_body_does_not_hold_up_small_ones(linear):
    with serving.Server(linear, "--threads", "1") as server:
        for _ in range(20):
            server.predict("linear", ROW)
        rows = json.dumps({"instances": [[0.5, 0.25, 0.125]] * 1_500_000})
        large = []
        thread = threading.Thread(
            target=lambda: large.append(
                server.predict("linear", rows, connection=server.connect(120)).status
            )
        )
        thread.start()
        late = slowest(server, "linear", ROW, 3)
        thread.join()
        assert large == [200]
        assert late < 0.7  # seconds


def save_sized(folder):
    """As large as the client says; quick for a small one."""

    def run(n):
        big = tf.scatter_nd([[0, 0]], [1.0], tf.stack([n[0], 3000]))
        return tf.reduce_sum(tf.matmul(big, big, transpose_a=True))

    serving.save(folder, run, tf.TensorSpec([1], tf.int32, "n"))


def test_a_request_that_turns_out_large_does_not_hold_up_other_models(linear):
    save_sized(linear / "sized")
    with serving.Server(linear, "--threads", "1", "--slots", "1") as server:
        for _ in range(20):  # quick so far: it runs where requests are read
            assert server.predict("sized", {"inputs": [1]}).status == 200
            assert server.predict("linear", ROW).status == 200
        large = []

        def ask():
            connection = server.connect(120)
            large.append(server.predict("sized", {"inputs": [6000]}, connection=connection).status)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        late = slowest(server, "linear", ROW, 2)
        for thread in threads:
            thread.join()
        assert large == [200, 200]
        assert late < 0.7


def test_many_requests_to_one_model_do_not_hold_up_another(linear):
    serving.save_slow(linear / "slow")
    with serving.Server(linear, "--threads", "1", "--slots", "1") as server:
        for _ in range(20):
            assert server.predict("linear", ROW).status == 200
        body = json.dumps({"instances": [60_000]}).encode()  # some 10 ms
        request = post("/v1/models/slow:predict", body, f"Content-Length: {len(body)}")
        many = opened(server, request, 150)
        for s in many:  # whether somebody still waits is asked, but not waited for
            s.shutdown(socket.SHUT_WR)
        late = slowest(server, "linear", ROW, 0.5)
        waiting = server.metric("tidemark_model_queue_requests")
        for s in many:
            s.close()
        assert waiting > 20  # there was a queue all the time
        assert late < 0.3


# --- HTTP ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: identity", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nContent-Length: 5", "Transfer-Encoding:\tchunked,chunked",
        "Transfer-Encoding: gzip, chunked", "Content-Length: 5\r\nContent-Length: 6",
    ],
)  # fmt: skip
def test_a_body_whose_end_is_not_clear_is_no_second_request(linear, header):
    with serving.Server(linear) as server:
        inner = b"GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
        answer = raw(server, post("/v1/models/linear:predict", inner, header), 3)
        assert answer.count(b"HTTP/1.1 ") == 1
        assert answer[9:12] in (b"400", b"501")
        assert b"Connection: close" in answer
        whole = json.dumps(ROW).encode()  # and what is clear works
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(whole), whole)
        good = post("/v1/models/linear:predict", chunks, "Transfer-Encoding: Chunked")
        assert raw(server, good, 1).startswith(b"HTTP/1.1 200")


def test_a_request_has_one_host(linear):
    with serving.Server(linear) as server:
        for hosts in [("localhost", "evil.example"), ("evil.example", "localhost")]:
            lines = "".join(f"Host: {host}\r\n" for host in hosts)
            answer = raw(server, f"GET /v2 HTTP/1.1\r\n{lines}\r\n".encode(), 3)
            assert answer.startswith(b"HTTP/1.1 400") and b"Connection: close" in answer


@pytest.mark.parametrize(
    "rest", [b"1;" + b"a" * 60000, b"0" * 60000, b"1\r\n1\r\n0\r\nX: " + b"a" * 60000]
)
def test_lines_of_chunks_end(linear, rest):
    with serving.Server(linear) as server:
        begun = post("/v1/models/linear:predict", rest, "Transfer-Encoding: chunked")
        answer = raw(server, begun, 3)
        assert answer.startswith(b"HTTP/1.1 431") and b"Connection: close" in answer


def test_pages_of_other_sites_are_refused(linear):
    unload = "/v2/repository/models/linear/unload"
    with serving.Server(linear, "--admin", "local") as server:
        for headers in [
            {"Host": "evil.example", "Origin": "http://evil.example", "Content-Type": "text/plain"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Host": "evil.example"},
        ]:
            assert server.post(unload, "", headers=headers).status == 403, headers
            assert server.predict("linear", ROW, headers=headers).status == 403, headers
        assert server.get("/metrics", headers={"Host": "evil.example"}).status == 403
        host = f"localhost:{server.port}"
        own = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
        assert server.predict("linear", ROW, headers=own).status == 200
        assert server.post(unload, "", headers=own).status == 200
    with serving.Server(linear, "--allow-host", "models.example") as server:
        assert server.predict("linear", ROW, headers={"Host": "models.example"}).status == 200


def test_models_are_not_unloaded_by_just_anybody(linear, tmp_path):
    unload = "/v2/repository/models/linear/unload"
    with serving.Server(linear) as server:
        answer = server.post(unload, "")
        assert answer.status == 403 and "--admin local" in answer.json["error"]
        assert server.predict("linear", ROW).status == 200
    with serving.Server(linear, "--admin", "none") as server:
        assert server.post(unload, "").status == 403
    token = tmp_path / "token"
    token.write_text("secret\n")
    with serving.Server(linear, "--token-file", str(token)) as server:
        assert server.post(unload, "").status == 401
        assert server.post(unload, "", headers={"Authorization": "Bearer secret"}).status == 200


def test_dribbled_headers_are_cut_off_in_time(linear):
    with serving.Server(linear, "--read-timeout", "1", "--idle-timeout", "30") as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as s:
            began = time.monotonic()
            with pytest.raises(OSError):
                for byte in b"GET /v2/health/live HTTP/1.1\r\n" + b"X: y\r\n" * 100:
                    s.sendall(bytes([byte]))
                    time.sleep(0.05)
        assert time.monotonic() - began < 5
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as s:
            time.sleep(2)  # idle is something else
            s.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert s.recv(100).startswith(b"HTTP/1.1 200")


def test_a_client_that_half_closes_gets_its_answer(tmp_path):
    serving.save_slow(tmp_path / "slow")
    with serving.Server(tmp_path, "--slots", "1") as server:
        body = json.dumps({"instances": [1_000_000]}).encode()
        request = post("/v1/models/slow:predict", body, f"Content-Length: {len(body)}")
        clients = [socket.create_connection(("127.0.0.1", server.port), 120) for _ in range(4)]
        for s in clients:  # all but the first wait in the queue
            s.sendall(request)
            s.shutdown(socket.SHUT_WR)
        for s in clients:
            response = http.client.HTTPResponse(s)
            response.begin()
            assert response.status == 200
            assert json.loads(response.read()) == {"predictions": [1_000_000]}
            s.close()


# --- time ----------------------------------------------------------------------------------------


def test_a_run_whose_client_has_gone_is_stopped(tmp_path):
    serving.save_slow(tmp_path / "slow")
    with serving.Server(tmp_path) as server:
        gone = server.connect()
        gone.request("POST", "/v1/models/slow:predict", json.dumps({"instances": [FOREVER]}))
        server.wait_for(lambda: server.metric('tidemark_slots{state="busy"}') == 1)
        gone.close()
        server.wait_for(lambda: server.metric('tidemark_slots{state="busy"}') == 0, 5)
        assert server.metric('tidemark_refused_total{reason="client_gone"}') == 1


def test_a_run_past_its_time_is_stopped(tmp_path):
    serving.save_slow(tmp_path / "slow")
    with serving.Server(tmp_path, "--request-timeout", "0.5") as server:
        began = time.monotonic()
        answer = server.predict("slow", {"instances": [FOREVER]})
        assert answer.status == 504 and time.monotonic() - began < 3
        assert server.predict("slow", {"instances": [3]}).json == {"predictions": [3]}


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_end_comes_in_time_and_everybody_is_told(tmp_path, which):
    serving.save_slow(tmp_path / "slow")
    with serving.Server(tmp_path, "--slots", "1", "--drain-timeout", "1") as server:
        statuses = []

        def ask():
            connection = server.connect(60)
            body = {"instances": [FOREVER]}
            statuses.append(server.predict("slow", body, connection=connection).status)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        server.wait_for(lambda: server.metric('tidemark_slots{state="busy"}') >= 1)
        time.sleep(0.3)
        began = time.monotonic()
        server.send_signal(which)
        assert server.wait(20) == 0
        assert time.monotonic() - began < 4
        for thread in threads:
            thread.join()
        assert statuses == [503] * 4


# --- texts ---------------------------------------------------------------------------------------


def test_names_are_cleaned_where_they_are_shown(tmp_path):
    name = 'x\nINFO all is well\x1b[2J"'
    serving.save_linear(tmp_path / name)
    with serving.Server(tmp_path) as server:
        lines = server.get("/metrics").body.decode().split("\n")
        assert not [line for line in lines if line.startswith("INFO")]
        assert [line for line in lines if r"model=\"x\\x0aINFO all" in line.replace('"', r"\"")]
        log = "".join(server.read_log())
        assert "\nINFO" not in log and "\x1b" not in log and r"loaded x\x0aINFO" in log


def test_numbers_that_json_does_not_have(tmp_path):
    serving.save(tmp_path / "log", tf.math.log, tf.TensorSpec([None], tf.float32, "x"))
    with serving.Server(tmp_path) as server:
        answer = server.predict("log", {"instances": [0.0, -1.0, 1.0]})
        assert answer.body == b'{"predictions": [-Infinity, NaN, 0.0]}'  # TensorFlow Serving's
        request = {
            "inputs": [{"name": "x", "datatype": "FP32", "shape": [2], "data": [0.0, 1.0]}],
        }
        answer = server.post("/v2/models/log/infer", request)
        assert answer.status == 400 and "binary" in answer.json["error"]
        request["outputs"] = [{"name": "output_0", "parameters": {"binary_data": True}}]
        answer = server.post("/v2/models/log/infer", request)
        head = int(answer.headers["Inference-Header-Content-Length"])
        got = np.frombuffer(answer.body[head:], np.float32)
        assert got[0] == -np.inf and got[1] == 0
