"""A pytest plugin: Keras's tests with Tidemark in TensorFlow's place, their results in a file.

One JSON line a test goes to the file named by TIDEMARK_KERAS_RESULTS as soon as the test ends,
so that a process that dies leaves what it had.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import pytest

import tidemark

tidemark.install_as_tensorflow()

SECONDS_A_TEST = int(os.environ.get("TIDEMARK_KERAS_SECONDS", "60"))
RESULTS = os.environ.get("TIDEMARK_KERAS_RESULTS")


def identity(nodeid: str) -> str:
    """``Class::test``, the way the reference names tests; ``test`` outside of classes."""
    return nodeid.partition("::")[2] or "collection"


def write(nodeid, outcome, seconds, why=""):
    if RESULTS:
        line = {"test": identity(nodeid), "result": outcome, "seconds": round(seconds, 3)}
        if why:
            line["why"] = why
        with open(RESULTS, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def last_line(report) -> str:
    """The error itself: the last line of what pytest would print that says anything."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    return text.strip()[:2000]


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        outcome = report.outcome
        if outcome == "failed" and report.when != "call":
            outcome = "error"
        why = last_line(report) if outcome in ("failed", "error") else ""
        write(report.nodeid, outcome, report.duration, why)


def pytest_collectreport(report):
    if report.failed:
        write(f"{Path(report.nodeid).name}::collection", "error", 0, last_line(report))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test that takes too long fails, as in the reference run."""

    def expire(number, frame):
        raise TimeoutError(f"took more than {SECONDS_A_TEST} s")

    before = signal.signal(signal.SIGALRM, expire)
    signal.alarm(SECONDS_A_TEST)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
