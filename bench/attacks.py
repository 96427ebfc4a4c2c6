"""Plain requests beside attacks: what they wait, what the server answers and what it takes.

    python bench/attacks.py [SECONDS of each attack] [ATTACK…]

A client asks a small model all the time, first alone and then beside each attack, which runs in
processes of its own. Held: the client's p99 is at most twice the quiet one, it is never refused, no
answer to anybody is a 5xx but 503 with a reason (and 504 with one for a run past its time:
docs/decisions/0056), and the server's memory stays below its limit and 32 MiB. The server and the
client get the processors before the attackers and before what else the machine does, where the
system lets us say so (as root, with control groups); else a machine that does other things tells
little of the first.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import multiprocessing
import os
import random
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from processor_shares import ProcessorShares

import tidemark as tf

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "python"))
import serving

LIMIT = 256 << 20
ALLOWED_OVER = 32 << 20
MOST = 2.0
ROW = json.dumps({"instances": [[1.0, 2.0, 3.0]]})


def ask(connection, path, body):
    connection.request("POST", path, body)
    answer = connection.getresponse()
    return answer.status, answer.read()


def plain_load(port, seconds, result):
    """Seconds of each request, and statuses."""
    with contextlib.suppress(OSError):  # it waits for the server alone
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    taken, statuses = [], {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        status, _ = ask(connection, "/v1/models/linear:predict", ROW)
        taken.append(time.perf_counter() - began)
        statuses[status] = statuses.get(status, 0) + 1
        time.sleep(0.002)
    result.put((sorted(taken), statuses))


# --- attacks: each asks until it is told to stop, and reports untyped failures -------------------


class Target(NamedTuple):
    port: int
    folder: str  # where its models are
    endless: str  # a model that never ends, to be copied


def repeatedly(attack, target, stop, bad):
    os.nice(19)  # attackers have machines of their own
    while not stop.is_set():
        with contextlib.suppress(OSError, http.client.HTTPException):
            for status, body in attack(target, stop):
                allowed = (503, 504) if attack in RUNNING_LONG else (503,)
                if status >= 500 and not (status in allowed and b'"error"' in body):
                    bad.put((attack.__name__, status, body[:200]))


def posted(target, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=60)
    try:
        yield ask(connection, path, body)
    finally:
        connection.close()


def huge_bodies(target, stop):
    yield from posted(
        target,
        "/v1/models/linear:predict",
        '{"instances": [' + "[1, 2, 3], " * (5 << 20) + "[1, 2, 3]]}",
    )


def huge_answers(target, stop):
    yield from posted(target, "/v1/models/wide:predict", json.dumps({"inputs": list(range(300))}))


def long_runs(target, stop):
    yield from posted(target, "/v1/models/loop:predict", json.dumps({"inputs": 10**9}))


def statuses_and_bodies(sockets):
    for s in sockets:
        answer = http.client.HTTPResponse(s)
        answer.begin()
        yield answer.status, answer.read()


def many_runs(target, stop, half_close=False):
    """Many at once, of another model, each of which is short."""
    body = json.dumps({"inputs": 10**4})
    head = f"POST /v1/models/busy:predict HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
    opened = []
    try:
        for _ in range(100):
            opened.append(socket.create_connection(("127.0.0.1", target.port), timeout=60))
            opened[-1].sendall((head + body).encode())
            if half_close:
                opened[-1].shutdown(socket.SHUT_WR)
        yield from statuses_and_bodies(opened)
    finally:
        for s in opened:
            s.close()


def half_closed_runs(target, stop):
    yield from many_runs(target, stop, half_close=True)


def medium_bodies(target, stop):
    rows = "[1, 2, 3], " * (40 << 10) + "[1, 2, 3]"
    yield from posted(target, "/v1/models/linear:predict", '{"instances": [' + rows + "]}")


def slow_headers(target, stop):
    opened = []
    try:
        for _ in range(200):
            opened.append(socket.create_connection(("127.0.0.1", target.port), timeout=5))
            opened[-1].sendall(b"POST /v1/models/linear:predict HTTP/1.1\r\n")
        while not stop.wait(0.5):
            for s in opened:
                s.sendall(b"X-More: a\r\n")
    finally:
        for s in opened:
            s.close()
    yield from ()


def many_connections(target, stop):
    opened = []
    try:
        for _ in range(500):
            opened.append(socket.create_connection(("127.0.0.1", target.port), timeout=5))
        stop.wait(1)
    finally:
        for s in opened:
            s.close()
    yield from ()


def malformed(target, stop):
    head = f"POST /v1/models/linear:predict HTTP/1.1\r\nContent-Length: {len(ROW)}\r\n\r\n"
    whole = (head + ROW).encode()
    for _ in range(100):
        data = bytearray(whole)
        for _ in range(random.randrange(1, 6)):
            data[random.randrange(len(data))] = random.randrange(256)
        with socket.create_connection(("127.0.0.1", target.port), timeout=15) as s:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            out = b""
            while part := s.recv(65536):
                out += part
        if out.startswith(b"HTTP/1.1 "):
            yield int(out[9:12]), out


def long_names(target, stop):
    """What an error could repeat."""
    yield from posted(target, "/v1/models/linear:predict", '{"inputs": {"%s": 1}}' % ("x" * 10**7))


def pipelined(target, stop):
    """Thousands of requests that nobody waited to be answered."""
    one = f"POST /v1/models/linear:predict HTTP/1.1\r\nContent-Length: {len(ROW)}\r\n\r\n{ROW}"
    data = one.encode() * 200
    with socket.create_connection(("127.0.0.1", target.port), timeout=10) as s:
        s.setblocking(False)
        while not stop.wait(0.001):
            with contextlib.suppress(BlockingIOError):
                s.send(data)
            with contextlib.suppress(BlockingIOError):
                while s.recv(1 << 20):
                    pass
    yield from ()


def slow_readers(target, stop):
    """Large answers that nobody takes."""
    body = json.dumps({"inputs": list(range(60))})
    head = f"POST /v1/models/wide:predict HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
    opened = []
    try:
        for _ in range(100):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.connect(("127.0.0.1", target.port))
            opened.append(s)
            s.sendall((head + body).encode() * 3)
        stop.wait(3)
    finally:
        for s in opened:
            s.close()
    yield from ()


def hostile_models(target, stop):
    """Models that never finish loading, that are cut short, that are links, that come and go."""
    place = Path(target.folder)
    number = 0
    try:
        while not stop.wait(0.3):
            number += 1
            for kind in ("endless", "short"):
                version = place / f"{kind}{number}" / "1"
                shutil.copytree(target.endless, version)
                if kind == "short":
                    model = version / "saved_model.pb"
                    os.truncate(model, model.stat().st_size // 2)
            version = place / f"linked{number}"
            version.mkdir()
            (version / "1").symlink_to("/proc/self/root")
            shutil.rmtree(place / f"endless{number - 3}", ignore_errors=True)
    finally:
        for kind in ("endless", "short", "linked"):
            for left in place.glob(f"{kind}[0-9]*"):
                shutil.rmtree(left, ignore_errors=True)
    yield from ()


ATTACKS = [
    huge_bodies, huge_answers, medium_bodies, long_runs, many_runs, half_closed_runs, slow_headers,
    many_connections, malformed, long_names, pipelined, slow_readers, hostile_models,
]  # fmt: skip
# Requests of these may be past their time.
RUNNING_LONG = {huge_answers, long_runs, many_runs, half_closed_runs}


# --- the whole -----------------------------------------------------------------------------------


def save_models(folder, elsewhere):
    """What is served, and the endless model elsewhere."""
    serving.save_linear(folder / "linear")

    def save(name, function, spec, into=folder):
        f = tf.function(function, input_signature=[spec])
        tf.saved_model.save(tf.Module(), str(into / name / "1"), signatures=f)

    def loop(n):
        i = tf.constant(0, tf.int64)
        while i < n:
            i += 1
        return i

    save("loop", loop, tf.TensorSpec([], tf.int64, "n"))
    save("busy", loop, tf.TensorSpec([], tf.int64, "n"))

    def endless(x):
        while tf.reduce_max(x) < 1:
            x = x * 1
        return x

    save("endless", endless, tf.TensorSpec([None], tf.float32, "x"), elsewhere)
    save("wide", lambda x: x[:, None] + tf.zeros([10_000]), tf.TensorSpec([None], tf.float32, "x"))


def part(server, shares, folders, seconds, attacks):
    """p99 of plain requests beside the attacks, their statuses, what was answered badly, and the
    most memory the server took."""
    context = multiprocessing.get_context("spawn")
    target = Target(server.port, folders[0], str(Path(folders[1], "endless", "1")))
    stop, bad, result = context.Event(), context.Queue(), context.Queue()
    attackers = [
        context.Process(target=repeatedly, args=(a, target, stop, bad), daemon=True)
        for a in attacks
    ]
    for process in attackers:
        process.start()
        shares.give("attackers", process.pid, few=True)
    time.sleep(1)
    load = context.Process(target=plain_load, args=(server.port, seconds, result), daemon=True)
    load.start()
    most = 0
    while load.is_alive() and result.empty():
        most = max(most, server.resident_bytes())
        time.sleep(0.02)
    taken, statuses = result.get()
    stop.set()
    for process in [load, *attackers]:
        process.join(5)
        process.kill()
    found = []
    while not bad.empty():
        found.append(bad.get())
    return taken[int(0.99 * len(taken))], statuses, found, most


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    chosen = [a for a in ATTACKS if a.__name__ in sys.argv[2:]]
    rounds = [[a] for a in chosen] or [*([a] for a in ATTACKS), ATTACKS]
    faults = []
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as elsewhere:
        save_models(Path(name), Path(elsewhere))
        options = ["--memory-limit", str(LIMIT), "--request-timeout", "5"]
        with ProcessorShares() as shares, serving.Server(Path(name), *options) as server:
            shares.give("server", server.pid)
            if not shares.are_given:
                print("what else the machine does counts, too")
            folders = (name, elsewhere)
            quiet, _, _, idle = part(server, shares, folders, seconds, [])
            print(f"{'quiet':18} p99 {1e3 * quiet:8.2f} ms           {idle >> 20} MiB", flush=True)
            for attacks in rounds:
                label = attacks[0].__name__ if len(attacks) == 1 else "all at once"
                p99, statuses, bad, most = part(server, shares, folders, seconds, attacks)
                print(
                    f"{label:18} p99 {1e3 * p99:8.2f} ms  {p99 / quiet:6.2f} x  {most >> 20} MiB"
                    f"  {statuses} {bad[:3] or ''}",
                    flush=True,
                )
                if p99 > MOST * quiet:
                    faults.append(f"{label}: p99 {p99 / quiet:.2f} x")
                if set(statuses) != {200} or bad:
                    faults.append(f"{label}: {statuses} {bad[:3]}")
                if most > LIMIT + ALLOWED_OVER:
                    faults.append(f"{label}: {most >> 20} MiB resident")
    if faults:
        sys.exit("missed: " + "; ".join(faults))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
