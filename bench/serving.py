"""Measures the model server and the files it stands on against the bars they were built for.

    python bench/serving.py                 # all, some ten minutes on two cores
    python bench/serving.py throughput kills

Needs wrk (Debian `wrk`) for the load. Prints one line a bar: what, measured, bar.
"""

from __future__ import annotations

import contextlib
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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "python"))

import serving

import tidemark as tf

ROWS = '{"instances": [[0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]]}'
PLAIN = """
wrk.method = "POST"
wrk.body = '%s'
wrk.headers["Content-Type"] = "application/json"
"""
# Every fourth request is wrong in some way; answers other than 200 and 400 are counted.
MIXED = """
local bodies = {'%s', '{"inputs": [[1,2,3,4,5,6,7,8]]}', '{"instances": [[1,2]]}', '{"inst',
  '{"instances": [[1,2,3,4,5,6,7,8],[8,7,6,5,4,3,2,1]]}', '{"instances": 3}',
  '{"inputs": {"x": [[1,2,3,4,5,6,7,8]]}}', '{"instances": [["a",2,3,4,5,6,7,8]]}'}
local n = 0
request = function()
  n = n + 1
  return wrk.format("POST", nil, {["Content-Type"] = "application/json"}, bodies[n %% #bodies + 1])
end
"""


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


def wrk(server, script, seconds, connections=64):
    """(requests a second, p99 in ms, requests, answers that were no 200)."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script)
        file.flush()
        text = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", file.name,
             f"http://127.0.0.1:{server.port}/v1/models/dense:predict"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    total = int(re.search(r"(\d+) requests in", text)[1])
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    scale = {"us": 1e-3, "ms": 1, "s": 1e3}[unit]
    return rate, float(number) * scale, total, int(failed[1]) if failed else 0


def tell(what, measured, bar):
    print(f"{what}: {measured} (bar: {bar})", flush=True)


def throughput(folder):
    with serving.Server(folder) as server:
        wrk(server, PLAIN % ROWS, 2)
        rate, p99, _, failed = wrk(server, PLAIN % ROWS, 8)
        measured = f"{rate:,.0f} requests/s, p99 {p99:.1f} ms, {failed} failed"
        tell("predict, 64 connections", measured, "20,000/s, 10 ms")


def mixed(folder, requests=10_000_000):
    with serving.Server(folder) as server:
        wrk(server, MIXED % ROWS, 5)
        before, total = server.resident_bytes(), 0
        while total < requests:
            total += wrk(server, MIXED % ROWS, 20)[2]
        grown = server.resident_bytes() - before
        right = server.predict("dense", ROWS).status == 200
        tell(f"{total:,} mixed requests", f"grew {grown / 1024:.0f} KiB, answers right: {right}",
             "2 MiB")  # fmt: skip


def reloads(folder, times=100):
    with serving.Server(folder) as server:
        stop, bad = threading.Event(), []

        def ask():
            connection = server.connect()
            while not stop.is_set():
                if server.predict("dense", ROWS, connection=connection).status != 200:
                    bad.append(1)
            connection.close()

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        highest, start = 0, None
        for number in range(times):
            loads = server.metric("tidemark_model_loads_total")
            save_dense(folder, scale=1 + number / 100)
            server.wait_for(lambda n=loads: server.metric("tidemark_model_loads_total") > n)
            if number == 4:
                start = server.resident_bytes()
            if start:
                highest = max(highest, server.resident_bytes() - start)
        stop.set()
        for thread in threads:
            thread.join()
        tell(f"{times} reloads under load", f"at most {highest / 1024:.0f} KiB above the start, "
             f"{len(bad)} failed", "2 MiB, 0 failed")  # fmt: skip


BEGUN = b"POST /v1/models/dense:predict HTTP/1.1\r\nContent-Length: 99\r\n\r\n{"


def crowd(folder):
    with serving.Server(folder, "--read-timeout", "60") as server:
        quiet = wrk(server, PLAIN % ROWS, 4, connections=32)
        raws = []
        for number in range(1000):
            raw = socket.create_connection(("127.0.0.1", server.port))
            raw.sendall(BEGUN[: 9 + number % 60])
            raws.append(raw)
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(968)]
        busy = wrk(server, PLAIN % ROWS, 4, connections=32)
        tell("2,000 connections, half slow", f"p99 {quiet[1]:.2f} -> {busy[1]:.2f} ms, "
             f"{busy[3]} failed", "2 x")  # fmt: skip
        for raw in raws + idle:
            raw.close()


def kills(folder, times=50):
    slowest = 0.0
    for _ in range(times):
        began = time.perf_counter()
        server = serving.Server(folder)
        assert server.predict("dense", ROWS).status == 200
        slowest = max(slowest, time.perf_counter() - began)
        load = subprocess.Popen(["wrk", "-t1", "-c8", "-d1s", f"http://127.0.0.1:{server.port}/"],
                                stdout=subprocess.DEVNULL)  # fmt: skip
        time.sleep(0.05)
        server.send_signal(signal.SIGKILL)
        server.wait()
        server.stop()
        load.kill()
        load.wait()
    tell(f"kill -9 and restart, {times} times", f"answers within {slowest:.2f} s of the start, "
         "Python's own included", "1 s")  # fmt: skip


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
    for name in sys.argv[1:] or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            save_dense(folder)
            PARTS[name](Path(folder))


if __name__ == "__main__":
    main()
