"""Recording, reading, exporting."""

import contextlib
import gzip
import json
import pickle
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
import recordings
from environments import needs_plans
from tidemark._explain import exports, growth

import tidemark as tf
from tidemark import _tidemark


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "run.tidemark"
    kept = []
    with tf.memory.record(path):
        for _ in range(50):
            x = tf.ones([100, 100])
            kept.append(x * 2.0)
    return str(path)


def test_a_recording_tells_growth_and_its_line(recorded):
    analysis = _tidemark.analyse_recording(recorded)
    assert analysis["whole"] and analysis["lost"] == 0
    assert analysis["steps"]["count"] == 50
    found, _ = growth.growing_groups(analysis)
    (place, op, holder), grown = found[0]
    assert "test_recording.py" in place and op == "multiply" and holder == "value"
    assert grown.bytes_per_step == pytest.approx(40000, rel=0.05)
    assert growth.overall(analysis).verdict == "growing"


def test_marked_steps_are_steps(tmp_path):
    path = str(tmp_path / "steps.tidemark")
    with tf.memory.record(path):
        for _ in range(12):
            tf.memory.step("epoch")
            for _ in range(5):
                tf.ones([10]) + 1.0
    steps = _tidemark.analyse_recording(path)["steps"]
    assert steps["count"] == 12 and steps["how"] == "marked by the program"


def test_one_recording_at_a_time(tmp_path):
    with (
        tf.memory.record(tmp_path / "a"),
        pytest.raises(tf.errors.InvalidArgumentError, match="under way"),
    ):
        tf.memory.record(tmp_path / "b").start()
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot write"):
        tf.memory.record("/nowhere/at/all").start()
    assert not _tidemark.is_recording()


def test_a_full_disk_is_told_and_the_program_goes_on():
    program = """
import tidemark as tf, time
r = tf.memory.record("/dev/full").start()
for _ in range(2000):
    tf.ones([10]) + 1.0
time.sleep(0.4)
for _ in range(10):
    y = tf.ones([10]) + 1.0
print(float(y[0]), r.stop()["error"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "2.0 No space left on device\n"
    assert "recording is off now" in done.stderr


def test_a_killed_program_leaves_a_recording_up_to_the_cut(tmp_path):
    path = tmp_path / "cut.tidemark"
    program = f"""
import os, time, tidemark as tf
tf.memory.record({str(path)!r}).start()
for _ in range(100):
    tf.ones([100]) + 1.0
time.sleep(0.6)
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", program])
    analysis = _tidemark.analyse_recording(str(path))
    assert not analysis["whole"]
    assert analysis["counts"]["op"] >= 200
    assert any("in" not in g["place"] and ":4" in g["place"] for g in analysis["groups"]) or any(
        g["place"].startswith("<string>") for g in analysis["groups"]
    )


def test_a_ring_keeps_the_last_events(tmp_path):
    ring = tf.memory.record(events=20000).start()
    for _ in range(10000):
        tf.ones([4]) + 1.0
    ring.save(tmp_path / "ring.tidemark")
    assert ring.stop()["error"] == ""
    analysis = _tidemark.analyse_recording(str(tmp_path / "ring.tidemark"))
    assert analysis["from_ring"] and 20000 <= analysis["events"] < 60000


def test_pytorch_snapshot(recorded, tmp_path):
    exports.write_pytorch(recorded, tmp_path / "snapshot.pickle")
    snapshot = pickle.loads((tmp_path / "snapshot.pickle").read_bytes())
    trace = snapshot["device_traces"][0]
    assert {e["action"] for e in trace} == {"alloc", "free_requested", "free_completed"}
    assert sum(e["action"] == "alloc" for e in trace) >= 100
    assert all(e["frames"][0]["line"] >= 0 for e in trace)
    blocks = [b for s in snapshot["segments"] for b in s["blocks"]]
    assert sum(b["size"] >= 40000 for b in blocks) >= 50


def test_pytorch_snapshot_is_consistent(recorded):
    """What memory_viz relies on: plain values, segments that their blocks fill, frees of what was
    allocated and is not any more."""
    snapshot = exports.pytorch_snapshot(recorded)
    for segment in snapshot["segments"]:
        at = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == at and block["state"] == "active_allocated"
            at += block["size"]
        assert at == segment["address"] + segment["total_size"]
    alive, last = {}, 0
    for entry in snapshot["device_traces"][0]:
        assert entry["time_us"] >= last and entry["stream"] == 0
        last = entry["time_us"]
        if entry["action"] == "alloc":
            assert entry["addr"] not in alive
            alive[entry["addr"]] = entry["size"]
        elif entry["action"] == "free_completed":
            assert alive.pop(entry["addr"]) == entry["size"]
        assert set(entry["frames"][0]) == {"filename", "line", "name"}
    assert alive == {s["address"]: s["total_size"] for s in snapshot["segments"]}


def _fields(data):
    """(number, value) of a protocol buffer's fields."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2
            length = varint()
            yield key >> 3, data[at : at + length]
            at += length


def test_pprof_can_be_decoded(recorded):
    analysis = _tidemark.analyse_recording(recorded)
    fields = list(_fields(gzip.decompress(exports.pprof(analysis))))
    strings = [value.decode() for number, value in fields if number == 6]
    assert strings[0] == ""
    types = [dict(_fields(value)) for number, value in fields if number == 1]
    assert [strings[t[1]] for t in types][:2] == ["inuse_objects", "inuse_space"]
    functions = {dict(_fields(v))[1]: strings[dict(_fields(v))[4]] for n, v in fields if n == 5}
    locations = {
        dict(_fields(v))[1]: dict(_fields(dict(_fields(v))[4])) for n, v in fields if n == 4
    }
    in_use = 0
    for number, value in fields:
        if number != 2:
            continue
        sample = list(_fields(value))
        (where,) = [v for n, v in sample if n == 1]
        assert functions[locations[where[0]][1]]
        numbers = [v for n, v in sample if n == 2][0]
        values = [v for _, v in _fields(b"".join(b"\x08" + part for part in _varints(numbers)))]
        assert len(values) == len(types)
        in_use += values[1]
    assert in_use == sum(g["live_bytes"] for g in analysis["groups"])


def _varints(data):
    """The bytes of each number of a packed list."""
    start = 0
    for at, byte in enumerate(data):
        if byte < 128:
            yield data[start : at + 1]
            start = at + 1


@needs_plans
def test_every_sort_of_event_is_written(tmp_path):
    path = str(tmp_path / "all.tidemark")
    before = tf.ones([10])

    @tf.function
    def step(x):
        return tf.reduce_sum(tf.matmul(x, x) + 1.0)

    with tf.memory.record(path):
        tf.memory.step("first")
        v = tf.Variable(tf.ones([8, 8]))
        step(v.read_value())
        step(v.read_value())
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v * v)
        tape.gradient(y, v)
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            session.run(tf.constant(1.0) + 1.0)
    analysis = _tidemark.analyse_recording(path)
    wanted = {"found", "allocate", "free", "change", "op", "step", "call", "session", "gradient",
              "trace", "plan"}  # fmt: skip
    assert wanted <= set(analysis["counts"])
    marks = {(kind, text) for kind, _, text, _, _ in analysis["marks"]}
    assert {("session", "opened"), ("session", "run"), ("session", "closed")} <= marks
    assert ("trace", "step: first call") in marks and ("plan", "step()") in marks
    assert any(p["name"] == "step()" and p["buffers"] for p in analysis["plans"])
    del before


def test_reports_say_that_the_disk_is_full(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import tidemark as tf\nfor _ in range(20): x = tf.ones([100]) + 1.0\n")
    command = [sys.executable, "-m", "tidemark", "profile", "-o", "/dev/full", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "cannot write /dev/full: No space left on device" in done.stderr


def test_pprof(recorded, tmp_path):
    exports.write_pprof(recorded, tmp_path / "profile.pb.gz")
    data = gzip.decompress((tmp_path / "profile.pb.gz").read_bytes())
    assert b"inuse_space" in data and b"test_recording.py" in data and b"multiply" in data


def test_chrome_trace(recorded, tmp_path):
    exports.write_chrome(recorded, tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    phases = {e["ph"] for e in events}
    assert {"X", "C", "s", "f"} <= phases
    counters = [e["args"]["live"] for e in events if e["ph"] == "C"]
    assert max(counters) >= 50 * 40000
    assert all(e["ts"] >= 0 for e in events if "ts" in e)


def test_tensorboard_scalars(recorded, tmp_path):
    exports.write_tensorboard(recorded, tmp_path / "board")
    files = list((tmp_path / "board").iterdir())
    assert len(files) == 1 and b"memory/live" in files[0].read_bytes()


def test_prometheus_text():
    text = tf.memory.prometheus()
    live = [line for line in text.splitlines() if line.startswith("tidemark_memory_bytes")]
    assert len(live) == 4
    for line in text.splitlines():
        assert line.startswith("#") or float(line.rsplit(" ", 1)[1]) >= -(1 << 30)


def test_tracemalloc_snapshot():
    kept = [tf.zeros([1000]) for _ in range(7)]
    snapshot = tf.memory.tracemalloc_snapshot()
    lines = snapshot.statistics("lineno")
    mine = [s for s in lines if s.traceback[0].filename.endswith("test_recording.py")]
    assert max(s.count for s in mine) >= len(kept)


def test_export_command(recorded, tmp_path):
    for kind in ("pytorch", "pprof", "chrome"):
        out = tmp_path / kind
        command = [sys.executable, "-m", "tidemark", "export", recorded, "--to", kind, "-o", out]
        assert subprocess.run(command).returncode == 0 and out.stat().st_size > 100
    rubbish = tmp_path / "rubbish"
    rubbish.write_bytes(b"no recording at all, though it is long enough to hold a header of one")
    command = [sys.executable, "-m", "tidemark", "export", rubbish, "--to", "pprof", "-o", "x"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "is no recording" in done.stderr


def test_watching_a_process(tmp_path):
    program = """
import sys, time, tidemark as tf
tf.memory.allow_watching()
x = tf.zeros([1000, 1000])
print("ready", flush=True)
sys.stdin.read()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        command = [sys.executable, "-m", "tidemark", "watch", str(process.pid), "--once"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "4 MiB" in done.stdout and "fill" in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 80
    finally:
        process.communicate()
    command = [sys.executable, "-m", "tidemark", "watch", str(process.pid), "--once"]
    assert subprocess.run(command, capture_output=True).returncode == 2


def answering_at(path, data):
    """A socket that sends whoever connects the bytes."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def answer():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(4096)  # what is asked: closing before that breaks its pipe
                    connection.sendall(data)

    threading.Thread(target=answer, daemon=True).start()
    return listener


@pytest.fixture
def short_path():
    """A folder with a short name: names of sockets are bounded."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def test_watching_believes_only_sockets_in_private_folders(short_path, monkeypatch):
    from tidemark._explain import serving

    home, shared = short_path / "home", short_path / "shared"
    for folder in (home, shared):
        folder.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(shared))
    monkeypatch.setenv("HOME", str(home))
    forged = json.dumps({"stats": {}, "forged": True}).encode()
    forged = struct.pack("<I", len(forged)) + forged
    with answering_at(shared / "tidemark-4242.sock", forged), pytest.raises(OSError):
        serving.ask(4242)  # whoever may write there may answer there
    (home / "linked").symlink_to(shared)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home / "linked"))
    with pytest.raises(OSError):
        serving.path_of(4242)
    code = "import tidemark as tf; print(tf.memory.allow_watching())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.startswith(str(home / ".cache" / "tidemark" / "run")), done.stderr
    assert (home / ".cache" / "tidemark" / "run").stat().st_mode & 0o777 == 0o700
    shared.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(shared))
    assert serving.path_of(4242)
    endless = answering_at(shared / "tidemark-4343.sock", struct.pack("<I", 2**32 - 1))
    with endless, pytest.raises(OSError, match="at most"):
        serving.ask(4343)


def test_watching_shows_no_control_characters():
    from tidemark.cli import watch

    stats = dict.fromkeys(
        ("live", "peak", "limit", "planned", "retained", "not_ours", "resident"), 1
    )
    groups = [["x\x1b]0;owned\x07.py:1", "op\x1b[2J", "value", 10, 1, None]]
    screen = watch.view(1, {"stats": stats, "groups": groups}, [1])
    assert not [c for c in screen if c != "\n" and not c.isprintable()]


@pytest.mark.slow
def test_a_million_events_are_reported_in_little_memory(tmp_path):
    path = str(tmp_path / "long.tidemark")
    recordings.write(path, 100_000)
    out = tmp_path / "report.html"
    began = time.monotonic()
    # By a small process between: a child's peak begins with what its parent has at the fork.
    command = [sys.executable, "-m", "tidemark", "report", path, "-o", str(out)]
    measured = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", measured, *command], capture_output=True, text=True, check=True
    )
    assert time.monotonic() - began < 20
    assert int(done.stdout) < 300 * 1024
    assert out.stat().st_size < 5 << 20


@pytest.mark.parametrize(
    ("values", "verdict", "slope"),
    [
        ([1000] * 50, "flat", 0),
        ([i * 100 for i in range(50)], "growing", 100),
        ([0] * 10 + [50000] * 40, "flat", 0),  # one jump
        ([min(i, 8) * 1000 for i in range(60)], "flat", 0),  # a cache that fills
        ([i * 100 + (i * 7919) % 300 for i in range(80)], "growing", 100),  # noise
        ([(i % 10) * 100000 for i in range(80)], "sawtooth", 0),
        ([100000 - i * 100 for i in range(50)], "flat", 0),
        ([5], "flat", 0),
    ],
)
def test_verdicts(values, verdict, slope):
    got = growth.judge(range(len(values)), values)
    assert got.verdict == verdict
    assert got.bytes_per_step == pytest.approx(slope, rel=0.05)
