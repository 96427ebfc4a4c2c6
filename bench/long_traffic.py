"""Mixed traffic for as long as one likes: what the server takes must not grow.

    python bench/long_traffic.py [minutes]

Clients ask in both protocols, rightly and wrongly, little and much, go away in the middle, and say
what is no HTTP; meanwhile versions of a model come and go. Held: right requests are answered
rightly, nobody gets a 5xx but 503 with a reason (and 504 for a run past its time), memory stays
below the limit and 32 MiB. The low tenth of memory that is not kept for the next request, of open
files and of threads does not grow between the second and the last quarter of the time: what is
above it comes and goes with large requests.
"""

from __future__ import annotations

import collections
import contextlib
import http.client
import json
import os
import random
import shutil
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import attacks
import serving

CLIENTS = 4
GROWTH = 2 << 20  # bytes that the low tenth of memory may move by chance
BINARY = {
    "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3],
                "parameters": {"binary_data_size": 12}}],
}  # fmt: skip


def predict(port, model, body, **options):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", f"/v1/models/{model}:predict", body, **options)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def plain(port, drawn):
    rows = [[1.0, 2.0, 3.0]] * drawn.choice([1, 3, 100, 20_000])
    status, body = predict(port, "linear", json.dumps({"instances": rows}))
    if status == 200:
        assert json.loads(body)["predictions"] == [[12.0, 12.0]] * len(rows)
    return status, body


def binary(port, drawn):
    head = json.dumps(BINARY).encode()
    data = head + bytes(12)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        length = {"Inference-Header-Content-Length": str(len(head))}
        connection.request("POST", "/v2/models/linear/infer", data, length)
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    assert answer.status == 200 and json.loads(body)["outputs"][0]["data"] == [0.0, 0.0]
    return answer.status, body


def wrong(port, drawn):
    model = drawn.choice(["linear", "none"])
    body = drawn.choice(['{"instances": [[1, 2]]}', '{"instances": [[1, "a", 3]]}', "[" * 9, "{}"])
    status, body = predict(port, model, body)
    assert status in (400, 404)
    return status, body


def wide(port, drawn):
    return predict(port, "wide", json.dumps({"inputs": [1.0] * drawn.choice([1, 20, 400])}))


def versions(port, drawn):
    return predict(port, "changing", attacks.ROW)


def long_run(port, drawn):
    return predict(port, "loop", json.dumps({"inputs": drawn.choice([1, 10**5, 10**9])}))


def gone(port, drawn):
    body = json.dumps({"inputs": 10**9}).encode()
    head = f"POST /v1/models/loop:predict HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
    data = head.encode() + body
    with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
        s.sendall(data[: drawn.randrange(len(data) + 1)])
        time.sleep(drawn.choice([0, 0.05]))
    return 0, b""


def noise(port, drawn):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
        s.sendall(drawn.randbytes(drawn.randrange(1, 3000)) + b"\r\n\r\n")
        s.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):
            while s.recv(65536):
                pass
    return 0, b""


KINDS = [plain] * 8 + [binary] * 4 + [wrong] * 3 + [wide, versions, versions, long_run, gone, noise]


class Traffic:
    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        self.statuses, self.faults = collections.Counter(), []
        self.is_over = threading.Event()

    def ask(self, seed):
        drawn = random.Random(seed)
        while not self.is_over.is_set():
            kind = drawn.choice(KINDS)
            try:
                status, body = kind(self.server.port, drawn)
            except (OSError, http.client.HTTPException):
                status, body = -1, b""  # it went down with the connection
            except AssertionError:
                self.faults.append(f"{kind.__name__}: a wrong answer")
                continue
            self.statuses[kind.__name__, status] += 1
            allowed = (503, 504) if kind in (long_run, wide) else (503,)
            if status >= 500 and not (status in allowed and b'"error"' in body):
                self.faults.append(f"{kind.__name__}: {status} {body[:200]}")

    def change(self):
        version = 1
        while not self.is_over.wait(3):
            version += 1
            serving.save_linear(self.folder / "changing", version=version)
            shutil.rmtree(self.folder / "changing" / str(version - 2), ignore_errors=True)

    def takes(self):
        process = f"/proc/{self.server.pid}"
        counts = [len(os.listdir(f"{process}/{what}")) for what in ("fd", "task")]
        in_use = sum(
            self.server.metric(f'tidemark_memory_bytes{{kind="{kind}"}}')
            for kind in ("live", "not_ours")
        )
        return self.server.resident_bytes(), in_use, *counts


def main():
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        attacks.save_models(folder)
        serving.save_linear(folder / "changing")
        options = ["--memory-limit", str(attacks.LIMIT), "--request-timeout", "2"]
        with serving.Server(folder, *options) as server:
            traffic = Traffic(server, folder)
            work = [lambda seed=seed: traffic.ask(seed) for seed in range(CLIENTS)]
            threads = [threading.Thread(target=one) for one in [*work, traffic.change]]
            for thread in threads:
                thread.start()
            taken, end = [], time.monotonic() + 60 * minutes
            while time.monotonic() < end:
                taken.append(traffic.takes())
                time.sleep(0.25)
                server.read_log()
            traffic.is_over.set()
            for thread in threads:
                thread.join()
    quarter = len(taken) // 4
    lows = [
        [statistics.quantiles(column, n=10)[0] for column in zip(*some, strict=True)]
        for some in (taken[part * quarter :][:quarter] for part in range(4))
    ]
    print(f"{sum(traffic.statuses.values())} requests in {minutes:g} minutes")
    for (kind, status), count in sorted(traffic.statuses.items()):
        print(f"  {kind:10} {status:4} {count}")
    for part, (_, in_use, files, tasks) in enumerate(lows, 1):
        print(f"quarter {part}: {in_use / 2**20:.1f} MiB, {files:.0f} files, {tasks:.0f} threads")
    most = max(resident for resident, *_ in taken)
    print(f"most: {most / 2**20:.1f} MiB of {(attacks.LIMIT + attacks.ALLOWED_OVER) >> 20}")
    if most > attacks.LIMIT + attacks.ALLOWED_OVER:
        traffic.faults.append(f"{most} bytes resident")
    held = ("bytes in use", GROWTH), ("open files", 8), ("threads", 0)
    for (what, by), before, after in zip(held, lows[1][1:], lows[3][1:], strict=True):
        if after > before + by:
            traffic.faults.append(f"{what} grew from {before:.0f} to {after:.0f}")
    if traffic.faults:
        sys.exit("missed: " + "; ".join(traffic.faults[:10]))


if __name__ == "__main__":
    main()
