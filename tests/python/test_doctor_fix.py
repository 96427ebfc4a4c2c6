"""The changes that the doctor advises: what they make of a source, and what they bring."""

import subprocess
import sys
from pathlib import Path

import pytest
from test_doctor import doctor
from tidemark._explain.edits import Source

DOCTOR = Path(__file__).parents[1] / "doctor"
LOOP = "kept = []\nfor i in range(9):\n    x = make(i)\n    kept.append(x)\n"


def changed(before, after):
    """The lines that are new."""
    return [line for line in after.splitlines() if line not in before.splitlines()]


@pytest.mark.parametrize(
    ("text", "change", "lines"),
    [
        (LOOP, lambda s: s.with_number(4), ["    kept.append(float(tf.reduce_mean(x)))"]),
        ("q.put((i, x))\n", lambda s: s.with_numbers_of(1, {"x"}),
         ["q.put((i, float(tf.reduce_mean(x))))"]),
        ("report(i, state=x)\n", lambda s: s.with_numbers_of(1, {"x"}),
         ["report(i, state=float(tf.reduce_mean(x)))"]),
        ("fs.append(lambda: x + 1)\n", lambda s: s.with_numbers_of(1, {"x"}), None),
        ("q.put(x)\n", lambda s: s.bounded(1, "list"), ["if q.qsize() > 4:", "    q.get()"]),
        ("d |= {k: x}\n", lambda s: s.with_number(1), ["d |= {k: float(tf.reduce_mean(x))}"]),
        ("bisect.insort(b, (s, x))\n", lambda s: s.bounded(1, "list"), ["del b[:-4]"]),
        ("f = lru_cache(maxsize=None)(g)\n", lambda s: s.with_small_cache(1),
         ["f = lru_cache(maxsize=4)(g)"]),
        (LOOP, lambda s: s.with_text(4), ["    kept.append(str(x))"]),
        (LOOP, lambda s: s.bounded(4, "list"), ["    del kept[:-4]"]),
        (LOOP, lambda s: s.without_adding(4), []),
        ("d[k] = v  # é\n", lambda s: s.bounded(1, "dict"),
         ["if len(d) > 4:", "    d.pop(next(iter(d)))"]),
        ("h = h + (x,)\n", lambda s: s.with_number(1), ["h = h + (float(tf.reduce_mean(x)),)"]),
        ("é = {'ü': 1}; d['ü'] = x\n", lambda s: s.with_number(1),
         ["é = {'ü': 1}; d['ü'] = float(tf.reduce_mean(x))"]),
        ("import functools\n@functools.cache\ndef f(i): return i\n",
         lambda s: s.with_small_cache(2), ["@functools.lru_cache(maxsize=4)"]),
        ("import os\nclass A:\n    def __init__(self, up):\n        self.up = up\n",
         lambda s: s.with_weak_reference(4),
         ["import weakref", "        self.up = weakref.proxy(up) if up is not None else None"]),
        ("for i in range(3):\n    y = f(x, i)\n", lambda s: s.with_tensor_argument(2, "f"),
         ["    y = f(x, tf.constant(i))"]),
        ("for i in range(3):\n    y = f(lambda t: t + i)\n",
         lambda s: s.with_shared_argument(2, "f"), None),
        ("@tf.function\ndef f(x): return x\n", lambda s: s.with_any_shape("f"),
         ["@tf.function(reduce_retracing=True)"]),
        ("d = d.shuffle(5000).batch(2)\n", lambda s: s.with_small_shuffle(),
         ["d = d.shuffle(1000).batch(2)"]),
        ("d = d.shuffle(50)\n", lambda s: s.with_small_shuffle(), None),
    ],
)  # fmt: skip
def test_a_change_of_the_source(text, change, lines):
    after = change(Source(text))
    if lines is None:
        assert after is None
        return
    assert changed(text, after) == lines
    compile(after, "after", "exec")


def test_what_is_read_is_still_filled():
    assert Source(LOOP + "print(kept)\n").without_adding(4) is None


def test_only_what_is_the_same_each_round_is_moved_out_of_a_loop():
    moved = "for i in range(3):\n    y = tf.square(x)\n    run(y, i)\n"
    source = Source(moved)
    after = source.before_the_loop(source.statement(2))
    assert after == "y = tf.square(x)\nfor i in range(3):\n    run(y, i)\n"
    for text in (moved.replace("(x)", "(x + i)"), moved.replace("(x)", "(lambda a=i: a)")):
        source = Source(text)
        assert source.before_the_loop(source.statement(2)) is None


def fixed(path, *options):
    return subprocess.run(
        [sys.executable, "-m", "tidemark", "doctor", "--fix", *options, str(path)],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tapes_in_list", "cache_of_a_method", "tuple_that_grows"])
def test_a_change_is_tried_on_a_copy_and_written_when_asked_to(name, tmp_path):
    path = tmp_path / f"{name}.py"
    text = (DOCTOR / "chains" / "seeded" / f"{name}.py").read_text()
    path.write_text(text)
    done = fixed(path)
    assert "growth gone" in done.stdout and "same output" in done.stdout
    assert f"+++ {path}" in done.stdout
    assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]
    assert f"written: {path}" in fixed(path, "--write").stdout
    assert path.read_text() != text
    assert doctor(path)[0]["findings"] == []


@pytest.mark.slow
def test_a_change_that_alters_the_output_is_not_written(tmp_path):
    path = tmp_path / "closures.py"
    text = (DOCTOR / "chains" / "seeded" / "closures_in_list.py").read_text()
    path.write_text(text)
    told = " ".join(fixed(path, "--write").stdout.split())
    assert "growth gone" in told and "but the output differs: not to be written" in told
    assert path.read_text() == text


@pytest.mark.slow
def test_a_healthy_program_needs_no_change():
    done = fixed(DOCTOR / "chains" / "fixed" / "tuple_that_grows.py")
    assert "There is nothing to change." in done.stdout


def test_writing_without_trying_is_refused():
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", "doctor", "--write", "x.py"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2 and "--write goes with --fix" in done.stderr
