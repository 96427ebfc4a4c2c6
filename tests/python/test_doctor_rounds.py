"""How often lines run, as the source tells; and what the doctor makes of steps."""

import json
import linecache
import os
import subprocess
import sys

import numpy as np
import pytest
from tidemark._explain import growth, rounds, source


@pytest.fixture
def written(request):
    """Gives a program a path under which its lines are found."""

    def write(text):
        path = f"<{request.node.name}>"
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
        for cached in (source.tree_of, rounds._lines, rounds._enclosing, rounds.loops_around):
            cached.cache_clear()
        return path

    yield write
    linecache.clearcache()


def lines_where(text, predicate):
    return [n for n in range(1, len(text.splitlines()) + 1) if predicate(n)]


OCCASIONAL = """\
if x:
    a()
def f(n):
    if n in memo:
        return memo[n]
    memo[n] = make(n)
for step in steps:
    b()
    if step % 4:
        continue
    c()
    save()
def save():
    d()
for step in steps:
    try:
        e()
    except ValueError:
        g()
    step % 3 and h()
@functools.lru_cache
def cached():
    i()
def main():
    if x:
        for step in steps:
            j()
"""


def test_what_runs_on_a_condition_is_occasional(written):
    path = written(OCCASIONAL)
    found = lines_where(OCCASIONAL, lambda n: n in rounds._lines(path).occasional)
    assert found == [5, 6, 10, 11, 12, 13, 14, 19, 20, 23, 26]


def test_ops_of_a_statement_that_run_on_a_condition_are_occasional(written):
    text = (
        "for s in steps:\n    y = a + b if s else a - b\n    z = y or a\n    is_due and save(y)\n"
        "    y = a if s else b\n"
    )
    path = written(text)
    assert lines_where(text, lambda n: n in rounds._lines(path).occasional) == [2, 4]


def test_what_stands_at_the_top_runs_once(written):
    path = written(OCCASIONAL)
    assert rounds.runs_once(path, 1)
    assert not rounds.runs_once(path, 8)
    assert not rounds.runs_once(path, 4)


NESTED = """\
class Client:
    def __init__(self):
        self.state = make()
    def message(self):
        return [send(k) for k in range(4)]
for visitor in visitors:
    client = Client()
    for _ in range(3):
        client.message()
        work()
"""


def test_loops_are_followed_through_calls(written):
    path = written(NESTED)
    assert [loop.line for loop in rounds.loops_around(path, 3)] == [6]
    assert [loop.line for loop in rounds.loops_around(path, 10)] == [8, 6]
    inside = rounds.loops_around(path, 5, is_inside=True)
    assert [(loop.line, loop.trips) for loop in inside] == [(5, 4), (8, 3), (6, 0)]


def test_each_function_is_followed_once(written):
    """Ten, of which each calls the one before twenty times."""
    calls = ["def f0(x):\n    g(x)\n"]
    calls += [f"def f{i}(x):\n" + f"    f{i - 1}(x)\n" * 20 for i in range(1, 10)]
    path = written("".join(calls) + "for x in xs:\n    f9(x)\n")
    assert rounds.loops_around(path, 2) == ()  # further out than is looked
    assert [loop.line for loop in rounds.loops_around(path, 151)] == [192]


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ({3: 200, 10: 600}, 200),  # the loop's own lines say it
        ({10: 600}, 200),  # three times each round
        ({5: 2400}, 200),
        ({}, 0),
    ],
)
def test_rounds_of_a_loop_are_counted_by_its_lines_or_those_within(written, lines, count):
    path = written(NESTED)
    assert rounds.rounds_of(path, 7, {(path, n): times for n, times in lines.items()}) == count


@pytest.mark.parametrize(
    ("count", "trips", "steps"),
    [(300, 2, 150), (300, 0, 300), (300, 100, 300), (20, 2, 20)],  # few steps: each is one
)
def test_a_loop_of_a_few_rounds_is_a_part_of_a_step(written, count, trips, steps):
    path = written("for s in steps:\n    for w in weights:\n        keep(w)\n")
    seen = {((path, 2), (path, 1)): trips}
    assert rounds.steps_of(path, 3, count, lambda *loops: seen[loops]) == steps


@pytest.mark.parametrize(
    ("values", "grows"),
    [
        (np.arange(60) * 4096, True),
        (np.arange(60) // 10 * 4096, True),  # every tenth step
        (np.where(np.arange(60) < 30, 4096, 73728), False),  # a jump, and no more
        (np.arange(60) % 8 * 4096, False),
        (np.concatenate([np.arange(20), np.full(40, 20)]) * 4096, False),  # a cache that fills
        (np.arange(60) % 8 * 4096 + np.where((np.arange(60) // 8) == 3, 32768, 0), False),
        (np.arange(60) * 1024 + np.arange(60) % 8 * 512, True),
    ],
)
def test_growth_goes_on_and_does_not_fall_back(values, grows):
    assert growth.judge(list(range(len(values))), values).is_growing == grows


def findings_of(tmp_path, text):
    script = tmp_path / "program.py"
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", "doctor", "--json", str(script)],
        capture_output=True, text=True, timeout=300, env={**os.environ},
    )  # fmt: skip
    return json.loads(done.stdout)["findings"]


def test_copies_that_numpy_has_are_counted(tmp_path):
    (found,) = findings_of(tmp_path, """\
import tensorflow as tf
rows = []
for step in range(100):
    y = tf.tanh(tf.ones([32, 32]) * step)
    copy = y.numpy()
    copy[0] = 1.0
    rows.append(copy)
""")  # fmt: skip
    assert (found["rule"], found["line"], found["bytes_per_step"]) == ("tensors-gathered", 7, 4096)
    assert found["made_at"] == ["program.py:4"]


def test_a_thread_that_ends_at_once_is_looked_at(tmp_path):
    (found,) = findings_of(tmp_path, """\
import threading
import tensorflow as tf
local = threading.local()
def work():
    local.cache = {}
    for step in range(150):
        local.cache[step] = tf.ones([32, 32]) * step
thread = threading.Thread(target=work)
thread.start()
thread.join()
""")  # fmt: skip
    assert (found["rule"], found["line"]) == ("tensors-gathered", 7)


def test_a_cache_that_fills_and_data_made_at_once_are_no_finding(tmp_path):
    assert findings_of(tmp_path, """\
import tensorflow as tf
data = [tf.ones([32, 32]) * i for i in range(40)]
cache = {}
for step in range(240):
    k = (step * step) % 97
    if k not in cache:
        cache[k] = data[k % 40] * k
    tf.reduce_sum(cache[k])
""") == []  # fmt: skip
