"""Measures the model server and the files it stands on against the bars they were built for.

    python bench/serving.py                 # all, some twenty minutes on two cores
    python bench/serving.py throughput kills

Needs wrk (Debian `wrk`) for the load, and the environment `serve` (see peers.py) for the Python
server beside it. Prints one line a bar: what, measured, bar. The machine should have nothing else
to do: latencies are those of whoever else wants the cores.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import peers

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "python"))

import serving

import tidemark as tf

ROWS = '{"instances": [[0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]]}'
PLAIN = """
wrk.method = "POST"
wrk.body = '%s'
wrk.headers["Content-Type"] = "application/json"
"""
PREDICT = "/v1/models/dense:predict"
INFER = "/v2/models/dense/infer"
# Method, path, body: half of them wrong in some way.
MIXED = [
    ("POST", PREDICT, ROWS),
    ("POST", PREDICT, '{"inputs": [[1, 2, 3, 4, 5, 6, 7, 8]]}'),
    ("POST", PREDICT, '{"instances": [[1, 2]]}'),
    ("POST", PREDICT, '{"inst'),
    ("POST", PREDICT, '{"instances": [[1,2,3,4,5,6,7,8],[8,7,6,5,4,3,2,1]]}'),
    ("POST", PREDICT, '{"instances": 3}'),
    ("POST", PREDICT, '{"inputs": {"x": [[1, 2, 3, 4, 5, 6, 7, 8]]}}'),
    ("POST", PREDICT, '{"instances": [["a", 2, 3, 4, 5, 6, 7, 8]]}'),
    ("POST", INFER, '{"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 8], '
     '"data": [1, 2, 3, 4, 5, 6, 7, 8]}]}'),
    ("POST", INFER, '{"inputs": [{"name": "x", "datatype": "FP32", "shape": [9, 8], '
     '"data": [1]}]}'),
    ("POST", INFER, "[" * 100),
    ("GET", "/v1/models/dense/metadata", ""),
    ("GET", "/v2/models/dense", ""),
    ("POST", "/v1/models/none:predict", ROWS),
    ("DELETE", "/v1/models/dense", ""),
    ("GET", "/v1/models/dense/versions/9999999999999999999", ""),
]  # fmt: skip
# Sends them in turn; counts answers that none of them has when asked alone.
MIXED_SCRIPT = """
texts, known, n, wrong = {}, {}, 0, 0
init = function()
  %s
end
request = function()
  n = n + 1
  return texts[n %% #texts + 1]
end
response = function(status, headers, body)
  if not known[status .. body] then wrong = wrong + 1 end
end
local thread
setup = function(t) thread = t end
done = function() io.write("wrong answers: " .. thread:get("wrong") .. "\\n") end
"""


def mixed_script(server):
    lines = []
    for method, path, body in MIXED:
        answer = server.ask(method, path, body)
        lines.append(f"texts[#texts + 1] = wrk.format('{method}', '{path}', nil, [==[{body}]==])")
        lines.append(f"known[{answer.status} .. [==[{answer.body.decode()}]==]] = true")
    return MIXED_SCRIPT % "\n  ".join(lines)


def save_dense(folder, scale=1.0, version=1):
    """A small dense model: 8 -> 16 -> 3."""
    random = np.random.default_rng(0)
    module = tf.Module()
    module.w = tf.Variable((scale * random.normal(size=(8, 16))).astype("float32"))
    module.v = tf.Variable(random.normal(size=(16, 3)).astype("float32"))
    f = tf.function(
        lambda x: tf.nn.softmax(tf.matmul(tf.nn.relu(tf.matmul(x, module.w)), module.v)),
        autograph=False,
        input_signature=[tf.TensorSpec([None, 8], tf.float32, name="x")],
    )
    tf.saved_model.save(module, str(Path(folder) / "dense" / str(version)), signatures=f)


def wrk(port, script, seconds, connections=64):
    """(requests a second, p50 and p99 in ms, requests, answers that were no 200, what it said)."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script)
        file.flush()
        text = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", file.name,
             f"http://127.0.0.1:{port}{PREDICT}"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])

    def quantile(which):
        number, unit = re.search(which + r"%\s+([\d.]+)(us|ms|s)", text).groups()
        return float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]

    total = int(re.search(r"(\d+) requests in", text)[1])
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    return rate, quantile("50"), quantile("99"), total, int(failed[1]) if failed else 0, text


def tell(what, measured, bar):
    print(f"{what}: {measured} (bar: {bar})", flush=True)


def throughput(folder):
    with serving.Server(folder) as server:
        wrk(server.port, PLAIN % ROWS, 2)
        rate, _, p99, _, failed, _ = wrk(server.port, PLAIN % ROWS, 10)
        measured = f"{rate:,.0f} requests/s, p99 {p99:.1f} ms, {failed} failed"
        tell("predict, 64 connections", measured, "20,000/s, 10 ms")
    try:
        python = peers.ensure("serve")
    except peers.Unavailable as why:
        return tell("against FastAPI and onnxruntime", f"not measured: {why}", "5 x")
    best = max(python_server_rate(python, workers) for workers in (1, 2))
    tell("against FastAPI and onnxruntime",
         f"{rate / best:.1f} x its {best:,.0f} requests/s", "5 x")  # fmt: skip


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def python_server_rate(python, workers):
    port = free_port()
    script = Path(__file__).with_name("peer_server.py")
    process = subprocess.Popen([python, script, str(port), str(workers)], cwd=script.parent)
    try:
        wait_for_port(port, 60)
        answer = ask_once(port)
        assert answer.status == 200
        assert len(json.loads(answer.read())["predictions"][0]) == 3
        wrk(port, PLAIN % ROWS, 2)
        return wrk(port, PLAIN % ROWS, 8)[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def ask_once(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", PREDICT, ROWS, {"Content-Type": "application/json"})
    return connection.getresponse()


def wait_for_port(port, seconds):
    end = time.perf_counter() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            assert time.perf_counter() < end, "nobody listens"
            time.sleep(0.005)


@contextlib.contextmanager
def in_background(work):
    """Calls it again and again on a thread; counts how often that went wrong."""
    stop, bad = threading.Event(), []

    def go():
        while not stop.is_set():
            if not work():
                bad.append(1)

    thread = threading.Thread(target=go)
    thread.start()
    try:
        yield bad
    finally:
        stop.set()
        thread.join()


def checked_values(server, model):
    """Asks for values of its own and compares them with numpy's."""
    connection, random = server.connect(), np.random.default_rng(2)

    def work():
        x = random.normal(size=(3, 8)).round(3)
        answer = server.predict("dense", {"instances": x.tolist()}, connection=connection)
        time.sleep(0.01)
        return answer.status == 200 and np.allclose(
            answer.json["predictions"], model(x), rtol=1e-4, atol=1e-6
        )

    return work


def dense_in_numpy(scale=1.0):
    random = np.random.default_rng(0)
    w, v = scale * random.normal(size=(8, 16)), random.normal(size=(16, 3))

    def model(x):
        e = np.exp(np.maximum(x @ w, 0) @ v)
        return e / e.sum(axis=1, keepdims=True)

    return model


RUBBISH = [
    b"GET",
    b"\x00" * 50,
    b"POST /v1/models/dense:predict HTTP/1.1\r\nContent-Length: x\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n{",
    b"\x16\x03\x01\x02",
]


def broken_clients(server):
    """Connections that send no HTTP, and go in the middle."""
    random = np.random.default_rng(3)

    def work():
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            raw.sendall(RUBBISH[random.integers(len(RUBBISH))])
        time.sleep(0.02)
        return True

    return work


def mixed(folder, requests=10_000_000):
    with serving.Server(folder, "--poll", "1") as server:
        script = mixed_script(server)
        with (
            in_background(checked_values(server, dense_in_numpy())) as bad,
            in_background(broken_clients(server)),
        ):
            wrk(server.port, script, 10)
            before, total, wrong, highest = server.resident_bytes(), 0, 0, 0
            while total < requests:
                *_, count, _, text = wrk(server.port, script, 20)
                total += count
                wrong += int(re.search(r"wrong answers: (\d+)", text)[1])
                highest = max(highest, server.resident_bytes() - before)
        tell(f"{total:,} mixed requests", f"at most {highest / 1024:.0f} KiB above the start, "
             f"{wrong + len(bad)} wrong answers", "2 MiB, 0 wrong")  # fmt: skip


def reloads(folder, times=100):
    with serving.Server(folder) as server:
        connection = server.connect()
        script = Path(folder) / "load.lua"
        script.write_text(PLAIN % ROWS)
        load = subprocess.Popen(
            ["wrk", "-t1", "-c16", "-d600s", "-s", script,
             f"http://127.0.0.1:{server.port}{PREDICT}"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        asked = [0]

        def work():
            asked[0] += 1
            return server.predict("dense", ROWS, connection=connection).status == 200

        with in_background(work) as bad:
            highest, start = 0, None
            for number in range(times + 5):
                loads = server.metric("tidemark_model_loads_total")
                save_dense(folder, scale=1 + number / 100)
                server.wait_for(lambda n=loads: server.metric("tidemark_model_loads_total") > n)
                if number == 4:
                    start = server.resident_bytes()
                if start:
                    highest = max(highest, server.resident_bytes() - start)
        load.send_signal(signal.SIGINT)
        said = load.stdout.read()
        load.wait()
        failed = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
        total = int(re.search(r"(\d+) requests in", said)[1]) + asked[0]
        tell(f"{times} reloads under load", f"at most {highest / 1024:.0f} KiB above the start, "
             f"{len(bad) + (int(failed[1]) if failed else 0)} of {total:,} requests failed",
             "2 MiB, 0 failed")  # fmt: skip


BEGUN = b"POST /v1/models/dense:predict HTTP/1.1\r\nContent-Length: 99\r\n\r\n{"


def crowd(folder):
    """A thousand healthy connections, alone and beside a thousand slow and broken ones."""
    with serving.Server(folder, "--read-timeout", "60") as server:
        wrk(server.port, PLAIN % ROWS, 2, connections=1000)
        quiet = wrk(server.port, PLAIN % ROWS, 8, connections=1000)
        raws = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(1000)]
        for number, raw in enumerate(raws):
            raw.sendall(BEGUN[: 9 + number % 50])
        turn = iter(range(10**9))

        def dribble():
            raws[next(turn) % len(raws)].send(b" ")
            time.sleep(0.01)
            return True

        with in_background(dribble), in_background(broken_clients(server)):
            busy = wrk(server.port, PLAIN % ROWS, 8, connections=1000)
        tell("1,000 healthy connections beside 1,000 slow or broken",
             f"p50 {quiet[1]:.1f} -> {busy[1]:.1f} ms, p99 {quiet[2]:.1f} -> {busy[2]:.1f} ms, "
             f"{busy[4]} failed", "2 x")  # fmt: skip
        for raw in raws:
            raw.close()


def kills(folder, times=50):
    port, slowest, load, right = free_port(), 0.0, None, 0
    expected = dense_in_numpy()(np.array([np.arange(8) / 10]))
    try:
        for _ in range(times):
            began = time.perf_counter()
            server = subprocess.Popen(
                [serving.program(), "--models", folder, "--port", str(port)],
                stderr=subprocess.DEVNULL,
            )
            wait_for_port(port, 10)
            while (answer := ask_once(port)).status != 200:
                assert time.perf_counter() - began < 10
            slowest = max(slowest, time.perf_counter() - began)
            right += np.allclose(json.loads(answer.read())["predictions"], expected, rtol=1e-4)
            if load is None:
                load = subprocess.Popen(
                    ["wrk", "-t1", "-c32", "-d600s", f"http://127.0.0.1:{port}/v1/models/dense"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
            time.sleep(0.1)
            server.kill()
            server.wait()
    finally:
        if load:
            load.kill()
            load.wait()
    measured = f"answers within {slowest:.2f} s of the start, loading included, {right} right"
    tell(f"kill -9 and restart under load, {times} times", measured, "1 s after loading")


KILLED = """
import sys, tidemark as tf
v = tf.Variable(tf.zeros([100_000]))
checkpoint = tf.train.Checkpoint(v=v)
manager = tf.train.CheckpointManager(checkpoint, sys.argv[1], max_to_keep=2)
manager.restore_or_initialize()
manager.save()
print("ready", flush=True)
while True:
    v.assign_add(tf.ones_like(v))
    manager.save()
"""


def checkpoints(folder, times=200):
    place = str(Path(folder) / "checkpoints")
    random, v, good = np.random.default_rng(1), tf.Variable(tf.zeros([100_000])), 0
    for _ in range(times):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, place], stdout=subprocess.PIPE, text=True
        )
        process.stdout.readline()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(random.uniform(0.0, 0.03))
        process.kill()
        process.wait()
        process.stdout.close()
        tf.train.Checkpoint(v=v).restore(tf.train.latest_checkpoint(place)).expect_partial()
        good += v.numpy().min() == v.numpy().max()
    tell(f"checkpoint killed {times} times", f"{good} loaded whole", times)


def loading(folder, times=500):
    import flat

    path = str(Path(folder) / "dense" / "1")

    def one():
        tf.saved_model.load(path).signatures["serving_default"](x=np.ones((1, 8), "float32"))

    for _ in range(100):
        one()
    before = flat.resident_bytes()
    for _ in range(times):
        one()
    grown = flat.resident_bytes() - before
    tell(f"load and drop a model {times} times", f"grew {grown / 1024:.0f} KiB", "2 MiB")


PARTS = {"throughput": throughput, "mixed": mixed, "reloads": reloads, "crowd": crowd,
         "kills": kills, "checkpoints": checkpoints, "loading": loading}  # fmt: skip


def main():
    unknown = [name for name in sys.argv[1:] if name not in PARTS]
    if unknown:
        sys.exit(f"serving.py measures {', '.join(PARTS)}; there is no {unknown[0]!r}")
    for name in sys.argv[1:] or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            save_dense(folder)
            PARTS[name](Path(folder))


if __name__ == "__main__":
    main()
