"""What the README shows of commands is what they do."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from environments import UNLIMITED
from serving import Server

from tidemark import _tidemark

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SHOWN_LEVEL = "v3"  # see docs/levels.md
SHOWN = re.findall(r"```text\n\$ tidemark (.*?)\n(.*?)```", README, re.DOTALL)


def as_shown(line):
    """Without numbers and their units: those depend on the machine."""
    return re.sub(r"[\d.,]+( [KMG]?i?B)?", "N", re.sub(r"[▁▂▃▄▅▆▇█]+", "", line)).split()


@pytest.mark.skipif(
    os.environ.get("TIDEMARK_FUSION", "on") == "off" or "TIDEMARK_PLAN_BUDGET" in os.environ,
    reason="plans are shown as they are without settings",
)
@pytest.mark.skipif(
    _tidemark.processor_level() < f"x86-64-{SHOWN_LEVEL}",
    reason="plans are shown as they are on a processor with AVX2",
)
@pytest.mark.parametrize(("command", "text"), SHOWN, ids=[c.split()[0] for c, _ in SHOWN])
def test_commands_print_what_is_shown(command, text):
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", *command.split()],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
        env={**UNLIMITED, "TIDEMARK_ISA": SHOWN_LEVEL},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    words = as_shown(done.stdout)
    printed = " ".join(words)
    for line in text.splitlines():
        if line.strip() != "…":
            assert " ".join(as_shown(line)) in printed, line


def test_both_kinds_of_commands_are_shown():
    assert [command.split()[0] for command, _ in SHOWN] == ["plan", "doctor"]


def test_a_keras_model_is_served_by_the_lines_shown(tmp_path):
    (block,) = re.findall(r"```sh\n(python -c.*?)```", README, re.DOTALL)
    program, serve, curl = re.fullmatch(
        r'python -c "\n(.*?)"\n(tidemark .*?)\n(curl .*?)\n', block, re.DOTALL
    ).groups()
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=120,
                   env=UNLIMITED)  # fmt: skip
    body, address = re.fullmatch(r"curl -d '(.*)' localhost:8501(.*)", curl).groups()
    assert serve == "tidemark serve --models models"
    server = Server(tmp_path / "models")
    try:
        assert server.post(address, body).json["predictions"]
    finally:
        server.stop()
