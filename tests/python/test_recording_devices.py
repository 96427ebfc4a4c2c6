"""What recordings, the doctor and exports tell of memory and work on another device."""

import json
import pickle
import subprocess
import sys

import pytest
from tidemark._explain import exports, growth

import tidemark as tf
from tidemark import _tidemark

NAME, DEVICE = "/device:EMULATED:0", "emulated:0"
STEPS, STEP_BYTES = 60, 64 << 10


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A program that keeps 64 KiB a step on the device and nothing on the host."""
    path = tmp_path_factory.mktemp("recorded") / "run.tidemark"
    kept = []
    with tf.memory.record(path), tf.device(NAME):
        x = tf.ones([128, 128])
        for _ in range(STEPS):
            kept.append(x * 2.0)
            y = tf.matmul(x, x)
    del y
    return str(path)


def test_each_device_has_an_analysis_of_its_own(recorded):
    analysis = _tidemark.analyse_recording(recorded)
    there = analysis["devices"][DEVICE]
    assert list(analysis["devices"]) == [DEVICE]
    ((place, op, _), grown), *others = growth.growing_groups(there)[0]
    assert not others and op == "multiply" and place.startswith("test_recording_devices.py:")
    assert grown.bytes_per_step == pytest.approx(STEP_BYTES, rel=0.01)
    assert growth.overall(there).is_growing and not growth.overall(analysis).is_growing
    assert there["limit"] == _tidemark.device_stats(DEVICE)["limit"]
    assert there["limit"] != analysis["limit"] == tf.memory.get_limit()
    assert there["live_at_end"] >= STEPS * STEP_BYTES
    assert there["steps"] == {**analysis["steps"], "live": there["steps"]["live"],
                              "idle": there["steps"]["idle"]}  # fmt: skip


def test_a_device_tells_what_its_time_went_into(recorded):
    analysis = _tidemark.analyse_recording(recorded)
    work = {(device, op): (count, took) for device, op, _, count, took in analysis["work"]}
    assert {device for device, _ in work} == {DEVICE}
    assert work[DEVICE, "multiply"][0] == work[DEVICE, "matmul"][0] == STEPS
    assert all(0 < took < analysis["duration"] for _, took in work.values())
    places = {place for _, op, place, _, _ in analysis["work"] if op == "matmul"}
    assert all(place.startswith("test_recording_devices.py:") for place in places), places


def test_what_was_there_before_is_found(tmp_path):
    with tf.device(NAME):
        before = tf.ones([256, 256]) * 2.0
    path = str(tmp_path / "run.tidemark")
    with tf.memory.record(path):
        tf.ones([10]) + 1.0
    there = _tidemark.analyse_recording(path)["devices"][DEVICE]
    assert there["counts"]["found"] >= 1 and there["peak"] >= 256 * 256 * 4
    del before


def test_functions_are_told_step_by_step(tmp_path):
    @tf.function
    def step(x):
        return tf.matmul(tf.tanh(x) + 1.0, x)

    with tf.device(NAME):
        x = tf.ones([64, 64])
        for _ in range(5):
            step(x)  # recorded steps of the device are made
        _tidemark.wait_for_devices()
        path = str(tmp_path / "run.tidemark")
        with tf.memory.record(path):
            for _ in range(7):
                step(x)
    work = _tidemark.analyse_recording(path)["work"]
    assert sum(count for _, op, _, count, _ in work if op.startswith("matmul")) == 7, work


def test_chrome_has_a_row_and_a_counter_for_the_device(recorded):
    events = list(exports.chrome_events(recorded))
    (row,) = {e["tid"] for e in events if e["ph"] == "M" and e["args"]["name"] == DEVICE}
    slices = [e for e in events if e["ph"] == "X" and e["tid"] == row]
    assert sum(e["name"] == "matmul" for e in slices) == STEPS
    ends = [0.0]
    for e in slices:  # one queue: no piece begins before the one before has ended
        assert e["ts"] >= ends[-1] - 1.0
        ends.append(e["ts"] + e["dur"])
    counted = [e["args"]["live"] for e in events if e["name"] == f"memory of {DEVICE}"]
    assert max(counted) >= STEPS * STEP_BYTES and min(counted) >= 0


def test_the_other_formats_tell_devices_apart(recorded, tmp_path):
    exports.write_pytorch(recorded, tmp_path / "snapshot.pickle")
    snapshot = pickle.loads((tmp_path / "snapshot.pickle").read_bytes())
    assert len(snapshot["device_traces"]) == 2
    on_device = [s for s in snapshot["segments"] if s["device"] == 1]
    assert sum(s["total_size"] for s in on_device) >= STEPS * STEP_BYTES
    exports.write_pprof(recorded, tmp_path / "run.pb.gz")
    exports.write_tensorboard(recorded, tmp_path / "logs")
    (written,) = (tmp_path / "logs").iterdir()
    assert f"memory of {DEVICE}/live".encode() in written.read_bytes()


PROGRAM = """
import tidemark as tf
kept = []
with tf.device("/device:EMULATED:0"):
    x = tf.ones([128, 128])
    for step in range(80):
        kept.append(tf.matmul(x, x))
"""


def test_the_doctor_finds_what_grows_on_a_device(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)

    def doctor(*options):
        command = [sys.executable, "-m", "tidemark", "doctor", *options, str(script)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        return done.stdout

    told = json.loads(doctor("--json"))
    (finding,) = [f for f in told["findings"] if f["verdict"] == "growing"]
    assert finding["device"] == DEVICE and finding["rule"] == "tensors-gathered"
    assert finding["line"] == 7 and finding["bytes_per_step"] == STEP_BYTES
    assert 'list "kept"' in finding["root"] + " ".join(map(str, finding["chain"]))
    assert told["devices"][DEVICE]["verdict"] == "growing" and told["verdict"] == "flat"
    assert told["devices"][DEVICE]["nanoseconds"] > 0
    text = doctor()
    assert f"{DEVICE}: growing by 64 KiB a step" in text, text
    assert f"64 KiB a step on {DEVICE}" in text, text
    assert "matmul" in text.partition("worked")[2].splitlines()[0], text


def test_the_page_tells_of_the_device(tmp_path):
    script, page = tmp_path / "train.py", tmp_path / "page.html"
    script.write_text(PROGRAM)
    command = [sys.executable, "-m", "tidemark", "profile", str(script), "-o", str(page)]
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    text = page.read_text()
    assert f"peak on {DEVICE}" in text and f"limit of {DEVICE}" in text
    assert "Where the time of devices went" in text and f"train.py:7 on {DEVICE}" in text


def test_looking_at_a_device_stays_flat(tmp_path):
    """Recording and analysing again and again leave nothing behind, there or here."""
    with tf.device(NAME):
        x = tf.ones([64, 64])
        seen = []
        for number in range(12):
            with tf.memory.record(tmp_path / "run.tidemark"):
                for _ in range(20):
                    tf.matmul(x, x)
            _tidemark.wait_for_devices()
            stats = _tidemark.device_stats(DEVICE)
            if number > 2:
                seen.append((stats["live"], stats["live_buffers"], _tidemark.stats()["live"]))
    assert len(set(seen)) == 1, seen
