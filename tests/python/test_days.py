"""Watching over days: recordings that stay small, what they tell, and how two of them differ."""

import json
import os
import re
import subprocess
import sys
import time

import pytest
from tidemark._explain import alerts, days

import tidemark as tf

HOUR = 3600.0


def moment(live, rows, marks=()):
    return {
        "stats": {"live": live, "resident": 2 * live, "peak": live},
        "groups": [[place, op, "value", size, 1, 0] for place, op, size in rows],
        "marks": list(marks),
    }


def record(path, grows_by, count=200, pid=7, begin=1000 * HOUR):
    writer = days.Writer(path)
    writer.begin(pid, "serve.py", begin)
    for number in range(count):
        size = 1_000_000 + grows_by * number
        rows = [("serve.py:9 in answer", "exp", size), ("serve.py:3", "fill", 4096)]
        writer.add(moment(size + 4096, rows), begin + 60.0 * number)
    writer.add_roots([["serve.py:9 in answer", 'list "kept" ← module __main__', 9, 1]])
    return days.read(path)


def test_a_line_that_grows_is_told_with_its_root(tmp_path):
    found = record(tmp_path / "a", 1000)
    first, *rest = days.trends(found)
    assert (first.place, first.op) == ("serve.py:9 in answer", "exp")
    assert first.an_hour == pytest.approx(60_000, rel=0.01)
    assert first.root == 'list "kept" ← module __main__'
    assert all(one.an_hour == 0 for one in rest)
    assert "58.6 KiB an hour  exp at serve.py:9 in answer" in days.text(found)


def test_hours_have_their_marks(tmp_path):
    writer = days.Writer(tmp_path / "a")
    for number in range(180):
        marks = [(1000 * HOUR + 4000.0, "model v2 loaded")] if number > 70 else []
        writer.add(moment(100 + number, [], marks), 1000 * HOUR + 60.0 * number)
    rows = days.hours(days.read(tmp_path / "a"))
    assert [change for _, _, change, _ in rows] == [59, 60, 60]
    assert [marks for *_, marks in rows] == [[], ["model v2 loaded"], []]


def test_another_process_is_a_deploy_and_growth_counts_from_there(tmp_path):
    record(tmp_path / "a", 1000)
    found = record(tmp_path / "a", 0, pid=8, begin=1010 * HOUR)
    assert "deploy: process 7 is followed by 8" in [text for _, text in found.marks]
    assert all(one.an_hour == 0 for one in days.trends(found))


def test_a_recording_stays_small(tmp_path):
    writer = days.Writer(tmp_path / "a")
    rows = [(f"serve.py:{line}", "exp", 10**9) for line in range(100)]
    for number in range(3 * days.MOST_SAMPLES):
        writer.add(moment(number, rows), float(number))
    found = days.read(tmp_path / "a")
    assert len(found.samples) < days.MOST_SAMPLES
    assert os.path.getsize(tmp_path / "a") < 1024 * days.MOST_SAMPLES
    assert found.samples[0]["t"] == 0.0 and found.samples[-1]["t"] == number
    times = [one["t"] for one in found.samples]
    assert times == sorted(times)
    assert found.samples == writer.recording.samples


def test_a_line_cut_short_is_left_out(tmp_path):
    record(tmp_path / "a", 0, count=10)
    text = (tmp_path / "a").read_text()
    (tmp_path / "a").write_text(text[: text.rindex('"rows"')])
    assert len(days.read(tmp_path / "a").samples) == 9


@pytest.mark.parametrize("text", ["", "{}", "[1]", "no JSON", '{"tidemark": "other"}'])
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / "a").write_text(text)
    with pytest.raises(days.FormatError, match="is no recording"):
        days.read(tmp_path / "a")


def command(*arguments, **more):
    return subprocess.run(
        [sys.executable, "-m", "tidemark", *map(str, arguments)],
        capture_output=True, text=True, timeout=60, **more,
    )  # fmt: skip


def test_two_recordings_are_compared_by_line_and_root(tmp_path):
    record(tmp_path / "before", 0)
    record(tmp_path / "after", 1000)
    told = command("diff", tmp_path / "before", tmp_path / "after").stdout
    assert re.search(r"977 KiB +1.14 MiB +0 B → 58.6 KiB +exp at serve.py:9 in answer", told)
    assert 'kept list "kept" ← module __main__' in told and "serve.py:3" not in told
    rows = json.loads(command("diff", "--json", tmp_path / "before", tmp_path / "after").stdout)
    assert rows[0]["an_hour_after"] == pytest.approx(60_000, rel=0.01)
    assert command("diff", tmp_path / "before", tmp_path / "before").stdout == "nothing grew\n"


def test_what_is_no_recording_is_told(tmp_path):
    (tmp_path / "x").write_text("no")
    for name, words in (("x", "is no recording"), ("none", "No such file")):
        done = command("diff", tmp_path / name, tmp_path / "x")
        assert done.returncode == 2 and words in done.stderr


SERVICE = """
import time
import tidemark as tf

tf.memory.allow_watching()
tf.memory.mark("model loaded")
kept = []
print("ready", flush=True)
while True:
    kept.append(tf.ones([1024]))
    time.sleep(0.005)
"""


def test_a_service_is_recorded_while_it_runs(tmp_path):
    (tmp_path / "serve.py").write_text(SERVICE)
    service = subprocess.Popen(
        [sys.executable, str(tmp_path / "serve.py")], stdout=subprocess.PIPE, text=True
    )
    path = tmp_path / "days"
    try:
        assert service.stdout.readline() == "ready\n"
        for _ in range(3):
            done = command("watch", "--record", path, "--once", service.pid)
            assert done.returncode == 0, done.stderr
    finally:
        service.kill()
        service.wait()
    found = days.read(path)
    assert len(found.samples) == 3 and len(found.processes) == 1
    assert [text for _, text in found.marks] == ["model loaded"]
    assert any("kept" in chain for _, chain, _, _ in found.roots)
    assert "model loaded" in command("report", path).stdout
    assert command("watch", "--record", path, "--mark", "release 2").returncode == 0
    assert days.read(path).marks[-1][1] == "release 2"
    done = command("watch", "--record", tmp_path / "new", service.pid)
    assert done.returncode == 2 and "does not answer" in done.stderr
    assert not (tmp_path / "new").exists()


def test_marks_are_bounded():
    for number in range(1000):
        tf.memory.mark(f"mark {number}")
    assert len(tf.memory.marks()) == 256
    when, text = tf.memory.marks()[-1]
    assert text == "mark 999" and abs(time.time() - when) < 60


def test_alert_rules_ask_for_numbers_that_are_exported():
    exported = set(re.findall(r"^(tidemark_\w+)", tf.memory.prometheus(), re.M))
    asked = set(re.findall(r"tidemark_\w+", alerts.RULES))
    assert asked and asked <= exported
    states = set(re.findall(r'state="(\w+)"', alerts.RULES))
    assert states <= set(re.findall(r'state="(\w+)"', tf.memory.prometheus()))
    assert command("watch", "--alerts").stdout == alerts.RULES
