"""Copies from a device for ops of the host are counted by op and line; the doctor tells of them."""

import json
import os
import subprocess
import sys

import pytest

EAGER = """
import tidemark as tf
with tf.device("/device:EMULATED:0"):
    x = tf.ones((64, 64)) * 0.5
    for i in range(20):
        y = tf.nn.softmax(x * 2.0)  # HERE
        x = x * 0.5 + y
"""

PLANNED = """
import tidemark as tf
@tf.function
def step(x):
    y = tf.nn.softmax(x * 2.0)  # HERE
    return x * 0.5 + y
with tf.device("/device:EMULATED:0"):
    x = tf.ones((64, 64)) * 0.5
    for i in range(20):
        x = step(x)
"""


def run(command, without):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment["TIDEMARK_EMULATED_WITHOUT"] = without
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=240,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0 or done.stdout.startswith("{"), done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("program", [EAGER, PLANNED], ids=["eager", "planned"])
def test_the_doctor_tells_what_bounces(program, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(program)
    line = next(i for i, text in enumerate(program.splitlines(), 1) if "HERE" in text)
    command = ["-m", "tidemark", "doctor", "--json", str(path)]
    found = [
        f for f in json.loads(run(command, "softmax"))["findings"] if f["rule"] == "device-bounces"
    ]
    assert [(f["line"], f["holder"]) for f in found] == [(line, "softmax on the host")], found
    assert "16 KiB a step" in found[0]["evidence"]
    silent = json.loads(run(command, ""))["findings"]
    assert not [f for f in silent if f["rule"] == "device-bounces"], silent


def test_copies_are_counted_by_op_and_line(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        EAGER + "from tidemark import _tidemark\n"
        "[(op, place, copies, size)] = _tidemark.bounces()\n"
        "assert (op, copies, size) == ('softmax', 20, 20 * 64 * 64 * 4), (op, copies, size)\n"
        "assert 'program.py:6' in place, place\n"
    )
    run([str(path)], "softmax")


def test_nothing_is_counted_on_the_cpu():
    program = (
        "import tidemark as tf\nfrom tidemark import _tidemark\n"
        "tf.nn.softmax(tf.ones((3, 3)))\nassert _tidemark.bounces() == []"
    )
    run(["-c", program], "softmax")
