"""``tidemark launch --doctor``: one report about all workers."""

import json
import subprocess
import sys

import pytest
import workers
from tidemark._explain import over_workers

PROGRAM = """
import sys, time
import tidemark as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank, kept = strategy._rank, []

@tf.function
def step(x):
    return strategy.reduce("SUM", tf.square(x), axis=None)

for i in range(30):
    print("step", i)
    if rank == 1:
        time.sleep(0.03)
        kept.append(tf.square(tf.ones([4096]) + i))
    step(tf.ones([100_000]))
"""


def launch(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "tidemark", "launch", "-n", "2", *map(str, arguments)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def test_watching_one_worker_shows_all_of_them_by_host():
    for shown in workers.run(2, "watched"):
        host, first, second = shown.strip().splitlines()[-3:]
        assert host.startswith("host 127.0.0.1: 2 worker(s), live 3")
        assert first.split()[:3] == ["worker", "0", "1"] and "MiB" in first
        assert second.split()[:3] == ["worker", "1", "2"] and "after 1 of them" in second


def test_the_slow_worker_and_the_leak_are_named(program, tmp_path):
    target = tmp_path / "told.json"
    done = launch(f"--doctor={target}", program)
    assert done.returncode == 0, done.stderr
    assert "[1] step 29" in done.stderr and done.stdout == ""
    told = json.loads(target.read_text())
    first, second = told["workers"]
    assert told["slowest"]["rank"] == 1 and 0.5 < told["slowest"]["seconds"] < first["seconds"]
    assert second["waiting"] < first["waiting"] <= first["inside"] < first["seconds"]
    assert first["collectives"] == second["collectives"] == 30
    # Two workers: each sends its half, and the sum of the other half.
    assert first["bytes_sent"] == second["bytes_sent"] == 30 * 400_000
    assert second["peak"] > first["peak"] and max(second["memory"]) <= second["peak"]
    (gathered,) = (f for f in told["findings"] if f["rule"] == "tensors-gathered")
    assert gathered["workers"] == [1] and gathered["file"].endswith("train.py")
    text = over_workers.text(told)
    assert "Worker 1 on " in text and "is the slowest" in text and "on     worker 1" in text
    page = over_workers.page("train.py <1>", told)
    assert "train.py &lt;1&gt;" in page and page.count("<svg") == 2 and "is the slowest" in page


def test_pages_and_what_is_not_one(program, tmp_path):
    target = tmp_path / "page.html"
    assert launch(f"--doctor={target}", program).returncode == 0
    assert "<h1>Workers of" in target.read_text()
    refused = launch("--doctor=page.txt", program)
    assert refused.returncode == 2 and "ends in .html" in refused.stderr
    program.write_text("print('alone')")
    alone = launch("--doctor", program)
    assert alone.returncode == 0 and "no worker told that it was one of several" in alone.stderr
    program.write_text("import sys; sys.exit(3)")
    assert launch("--doctor", program).returncode == 3


def worker(rank, waiting, **more):
    return {"rank": rank, "size": 3, "host": "h", "pid": 1, "seconds": 10.0, "collectives": 5,
            "inside": waiting, "waiting": waiting, "bytes_sent": 7, "live_at_end": 0,
            "memory": [], **more}  # fmt: skip


def report(rank, waiting, findings=()):
    return {"worker": worker(rank, waiting), "peak": 100, "limit": 0, "verdict": "flat",
            "findings": [{"rule": "r", "file": "/a/b.py", "line": line, "title": "t", "fix": "f",
                          "evidence": "e", "outlook": "", "bytes_per_step": 0, "bytes_now": 9}
                         for line in findings]}  # fmt: skip


def test_findings_of_several_workers_are_one():
    told = [report(2, 1.0, [3]), report(0, 1.1, [3, 4]), report(1, 1.2, [3])]
    found = over_workers.together(told)
    assert [one["rank"] for one in found["workers"]] == [0, 1, 2]
    assert [f["workers"] for f in found["findings"]] == [[0, 1, 2], [0]]
    assert found["slowest"] is None
    text = over_workers.text(found)
    assert "all 3 workers" in text and "worker 0" in text and "No worker is much slower" in text
    slow = over_workers.together([report(0, 4.0), report(1, 1.0), report(2, 6.0)])["slowest"]
    assert slow == {"rank": 1, "seconds": 4.0}
    assert over_workers.together([{"worker": None}])["workers"] == []
