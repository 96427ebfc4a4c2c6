"""Every instruction-set level gives the same bits, but for the ops that docs/levels.md lists."""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tidemark import _tidemark

HERE = Path(__file__).parent
LEVELS = ("v2", "v3", "v4")
OWN = _tidemark.processor_level().rpartition("-")[2]
EPSILON = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52,
           "complex64": 2**-23, "complex128": 2**-52}  # fmt: skip

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


def parts(array):
    return array.view(array.real.dtype) if array.dtype.kind == "c" else array


def units_apart(a, b, dtype, scale):
    """How far apart at most, in roundings of the largest magnitude; infinite: not comparable."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    if a.dtype == object or a.dtype.kind in "iub":
        return 0 if a.tolist() == b.tolist() else np.inf
    a, b = (parts(np.ascontiguousarray(x)).astype(np.float64) for x in (a, b))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if not np.all(np.isfinite(a[~same]) & np.isfinite(b[~same])):
        return np.inf
    return float(np.max(np.abs(a - b)[~same], initial=0)) / (EPSILON[dtype] * (scale or 1))


def bits(outputs):
    return [o.tolist() if o.dtype == object else o.tobytes() for o in outputs]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("levels")
    found = {}

    def of(level):
        if level not in found:
            path = folder / level
            done = at_level(level, "level_results.py", str(path))
            assert done.returncode == 0, done.stderr
            found[level] = pickle.loads(path.read_bytes())
        return found[level]

    return of


@pytest.mark.skipif(not _tidemark.compiler().startswith("12."), reason="bits of g++ 12")
@pytest.mark.slow
@pytest.mark.parametrize("level", [level for level in LEVELS if level < OWN])
def test_the_bits_of_every_op(level, results):
    allowed, wrong = listed(), []
    own, other = results(OWN), results(level)
    assert own.keys() == other.keys()
    for (op, dtype), calls in own.items():
        since, units = allowed.get(op, ("v2", 0))
        for (scale, a), (_, b) in zip(calls, other[op, dtype], strict=True):
            if bits(a) == bits(b):
                continue
            apart = max(units_apart(x, y, dtype, scale) for x, y in zip(a, b, strict=True))
            if since != "never" and level >= since:
                wrong.append(f"{op} of {dtype}: other bits, {apart:.1f} units apart")
            elif apart > units:
                wrong.append(f"{op} of {dtype}: {apart:.1f} units apart, listed {units}")
    assert not wrong, "\n".join(wrong)
