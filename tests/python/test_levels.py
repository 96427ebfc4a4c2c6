"""Every instruction-set level gives the same bits, but for the ops that docs/levels.md lists."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tidemark import _tidemark

HERE = Path(__file__).parent
LEVELS = ("v2", "v3", "v4")
OWN = _tidemark.processor_level().rpartition("-")[2]

pytestmark = pytest.mark.skipif(OWN not in LEVELS, reason="levels are those of x86-64 processors")


def listed():
    """{op: (the level from which on bits are equal, units of the largest magnitude)}"""
    text = (HERE.parents[1] / "docs" / "levels.md").read_text()
    rows = re.findall(r"^\| (.+?) \| (never|v\d) \| (\d+) \|$", text, re.MULTILINE)
    return {
        op: (level, int(units))
        for ops, level, units in rows
        for op in re.findall(r"`(\w+)`", ops)
    }  # fmt: skip


def at_level(level, *command):
    return subprocess.run(
        [sys.executable, *command], cwd=HERE, capture_output=True, text=True, timeout=600,
        env={**os.environ, "TIDEMARK_ISA": level},
    )  # fmt: skip


def show_level(level):
    return at_level(
        level, "-c", "from tidemark import _tidemark; print(_tidemark.processor_level())"
    )


@pytest.mark.parametrize("level", LEVELS)
def test_the_setting_caps_the_level(level):
    done = show_level(level)
    assert done.stdout.strip() == f"x86-64-{min(level, OWN)}", done.stderr


def test_a_level_that_is_none():
    done = show_level("avx9")
    assert done.returncode == 0
    assert 'TIDEMARK_ISA="avx9" is ignored: expected one of v2, v3, v4' in done.stderr


@pytest.mark.skipif(not _tidemark.compiler().startswith("12."), reason="bits of g++ 12")
@pytest.mark.slow
@pytest.mark.parametrize("level", [level for level in LEVELS if level < OWN])
def test_the_bits_of_every_op(level, tmp_path):
    files = {of: str(tmp_path / of) for of in (OWN, level)}
    for of, path in files.items():
        done = at_level(of, "level_results.py", path)
        assert done.returncode == 0, done.stderr
    # In a process of its own: the results of all ops are large.
    allowed = json.dumps(listed())
    done = at_level(OWN, "level_results.py", "--compare", files[OWN], files[level], level, allowed)
    assert done.returncode == 0, done.stdout + done.stderr
