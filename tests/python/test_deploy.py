"""What is in deploy/: checked against the published schemas, and true of server and planner."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from environments import UNLIMITED
from tidemark.cli import serve

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "deploy").iterdir())


def test_each_file_was_checked_since_it_changed():
    checked = json.loads((ROOT / "tests" / "deploy" / "checked.json").read_text())
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES}
    assert found == checked, "run tools/record_deploy.py"


@pytest.mark.skipif(serve.program() is None, reason="built without the server")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_server_knows_the_options(path):
    known = subprocess.run([serve.program(), "--help"], capture_output=True, text=True).stdout
    names = set(re.findall(r"(?<=[ -] )--[a-z-]+", path.read_text()))
    assert "--memory-limit" in names
    for name in names:
        assert re.search(rf"(?m){name}\b", known), name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_container_holds_what_the_server_may_take(path):
    text = path.read_text()
    (tensors,) = map(int, re.findall(r"--memory-limit[= ](\d+)MiB", text))
    wholes = {int(n) for n in re.findall(r"(?:memory: |MemoryMax=)(\d+)Mi?", text)}
    assert wholes and min(wholes) >= tensors + 64


def test_plans_tell_what_a_container_is_to_have(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        "import sys, tensorflow as tf\n"
        "w = tf.Variable(tf.ones([1000, 1000]))\n"
        "@tf.function\n"
        "def step(x):\n"
        "    w.assign_add(tf.linalg.matmul(x, tf.tanh(x @ w), transpose_a=True))\n"
        "if __name__ == '__main__':\n"
        "    for _ in range(5): step(tf.ones([4000, 1000]))\n"
        "    print([l for l in open('/proc/self/status') if l.startswith('VmHWM')][0].split()[1])\n"
    )

    def tidemark(*words, **more):
        done = subprocess.run(
            [sys.executable, "-m", "tidemark", *words], capture_output=True, text=True,
            env={**UNLIMITED, **more},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    said = tidemark("plan", f"{program}:step", "--shapes", "4000x1000", "--k8s")
    (whole,) = set(map(int, re.findall(r"memory: (\d+)Mi\}", said)))
    (tensors,) = map(int, re.findall(r"TIDEMARK_MEMORY_LIMIT, value: (\d+)MiB", said))
    assert 34 <= tensors < whole
    # It runs within that, and its tensors within theirs.
    taken = int(tidemark(str(program), TIDEMARK_MEMORY_LIMIT=f"{tensors}MiB"))
    assert taken <= whole << 10
