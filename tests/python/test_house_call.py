"""House calls: what is seen of a library from outside, in pure Python."""

import contextlib
import contextvars
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from tidemark._explain import growth, links
from tidemark._house import visit, walking
from tidemark._house.accounts import Accounts

DOCTOR = Path(__file__).parents[1] / "doctor"
# A Python that has the real TensorFlow.
PYTHON = os.environ.get("REAL_TENSORFLOW_PYTHON", "")
needs_tensorflow = pytest.mark.skipif(
    not PYTHON, reason="REAL_TENSORFLOW_PYTHON names no Python with TensorFlow"
)
# Likewise for the other libraries.
OTHERS = {name: os.environ.get(f"REAL_{name.upper()}_PYTHON", "") for name in ("torch", "jax")}
PLANTED = [
    pytest.param(
        name, path, id=f"{name}-{path.stem}",
        marks=pytest.mark.skipif(
            not OTHERS[name], reason=f"REAL_{name.upper()}_PYTHON names no Python with {name}"
        ),
    )
    for name in OTHERS
    for path in sorted((DOCTOR / f"for_{name}" / "seeded").glob("*.py"))
]  # fmt: skip


def test_accounts_tell_what_grows():
    accounts = Accounts()
    kept, gone = ("a.py:3", "Exp", "value"), ("a.py:4", "Sin", "value")
    for _ in range(100):
        accounts.op("a.py:3", "Exp")
        accounts.begin(kept, 4096)
        accounts.op("a.py:4", "Sin")
        accounts.begin(gone, 4096)
        accounts.end(gone, 4096)
    analysis = accounts.analysis(1 << 30)
    assert analysis["steps"]["count"] == 100
    (found,), _ = growth.growing_groups(analysis)
    assert found[0] == kept
    assert found[1].bytes_per_step == pytest.approx(4096, rel=0.05)


def test_accounts_are_bounded():
    accounts = Accounts()
    for number in range(20_000):
        accounts.op("a.py:3", "Exp")
        accounts.begin(("a.py:3", "Exp", "value"), number)
        accounts.end(("a.py:3", "Exp", "value"), number)
    assert len(accounts._samples) <= 512


class Thing:
    """What the walk looks for."""


context = contextvars.ContextVar("context")
context.set([Thing()])
local = threading.local()


class Keeper:
    def __init__(self):
        self.things = [Thing() for _ in range(5)]


def test_the_walk_leads_from_a_variable_to_the_thing():
    keeper = Keeper()
    found = [r for r in walking.walk((Thing,)) if r.parent is keeper.things]
    assert len(found) == 5
    path, names = links.without_own_dicts(*found[0].way()[:2])
    words = [link.words(items) for link, items in links.links_of(path, names, found[0].root)]
    assert words[0] == "test_the_walk_leads_from_a_variable_to_the_thing()"
    assert words[1].startswith('Keeper "keeper"')
    assert words[2].startswith("attribute Keeper.things (list, 5 items) at test_house_call.py:")


def test_the_visit_needs_no_runtime(tmp_path):
    """Of Tidemark only modules of pure Python are loaded."""
    code = (
        "import sys, runpy; sys.argv = ['visit']\n"
        f"names = runpy.run_path({visit.__file__!r})\n"
        "names['_package']()\n"
        "import tidemark._house.walking, tidemark._explain.findings\n"
        "assert not any('_tidemark' in name for name in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def call(path, *options, on="tensorflow"):
    return subprocess.run(
        [sys.executable, "-m", "tidemark", "doctor", "--on", on, *options, str(path)],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip


def test_a_python_without_the_library_is_told(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("print(1)\n")
    done = call(script, "--python", sys.executable)
    assert done.returncode == 2
    assert "a Python that has tensorflow is given with --python" in done.stderr
    done = call(script, "--python", str(tmp_path / "none"))
    assert done.returncode == 2 and "cannot run" in done.stderr


@needs_tensorflow
@pytest.mark.slow
@pytest.mark.parametrize("name", ["closures_in_list", "parts_of_a_class", "tapes_in_list"])
def test_the_same_defects_are_found_on_tensorflow(name):
    path = DOCTOR / "chains" / "seeded" / f"{name}.py"
    text = path.read_text()
    answer = json.loads(call(path, "--json", "--python", PYTHON).stdout)
    rule = re.search(r"^# rule: (.*)$", text, re.M)[1]
    (line,) = [n for n, one in enumerate(text.splitlines(), 1) if "HERE" in one]
    assert (rule, line) in [(f["rule"], f["line"]) for f in answer["findings"]]
    assert "tapes recorded" in answer["not_seen"]
    twin = call(DOCTOR / "chains" / "fixed" / f"{name}.py", "--json", "--python", PYTHON)
    assert json.loads(twin.stdout)["findings"] == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "path"), PLANTED)
def test_defects_are_found_on_other_libraries(name, path):
    text = path.read_text()
    options = ("--json", "--python", OTHERS[name])
    found = json.loads(call(path, *options, on=name).stdout)["findings"]
    rules = re.findall(r"^# rule: (.*)$", text, re.M)
    (line,) = [n for n, one in enumerate(text.splitlines(), 1) if "HERE" in one]
    same = [f for f in found if f["line"] == line and (not rules or f["rule"] == rules[0])]
    assert same, [(f["rule"], f["line"]) for f in found]
    words = [link["words"] for link in same[0]["chain"]]
    for part in re.findall(r"^# chain: (.*)$", text, re.M):
        assert any(part in link for link in words), words
    twin = path.parents[1] / "fixed" / path.name
    assert json.loads(call(twin, *options, on=name).stdout)["findings"] == []


# --- what the walk sees that Python's collector does not ----------------------------------------


def ways_to(wanted):
    """The words of the ways to things."""
    told = []
    for one in walking.walk((Thing,)):
        if wanted(one.obj):
            path, names = links.without_own_dicts(*one.way()[:2])
            told.append([link.words(n) for link, n in links.links_of(path, names, one.root)])
    return told


def test_items_of_arrays_of_objects_are_seen():
    table = np.empty(8, dtype=object)
    table[3] = thing = Thing()
    number = id(thing)
    del thing
    (way,) = ways_to(lambda obj: id(obj) == number)
    assert way[1].startswith('ndarray "table"'), table.shape


def test_values_of_context_variables_are_seen():
    number = id(context.get()[0])
    assert any(way[0] == "a context" and 'list "context"' in way[1]
               for way in ways_to(lambda obj: id(obj) == number))  # fmt: skip


def test_what_a_thread_has_for_itself_is_seen():
    local.things = [Thing()]
    number = id(local.things[0])
    (way,) = ways_to(lambda obj: id(obj) == number)
    assert "attribute _local.things (list, 1 item)" in way[-1]


def test_what_a_librarys_function_was_given_is_seen():
    stack = contextlib.ExitStack()
    stack.callback(print, thing := Thing())
    number = id(thing)
    del thing
    (way,) = ways_to(lambda obj: id(obj) == number)
    assert way[1].startswith('ExitStack "stack"')


def test_a_long_way_is_told_from_its_root_on():
    first = None
    for _ in range(5000):
        first = [first]
    keeper = [Thing(), first]
    end = first
    while end[0] is not None:
        end = end[0]
    end[0] = last = Thing()
    (way,) = ways_to(lambda obj: obj is last and obj is not keeper[0])
    assert way[0] == "test_a_long_way_is_told_from_its_root_on()"


def test_a_line_with_an_op_twice_is_run_once_a_step():
    accounts = Accounts()
    for number in range(100):
        accounts.op("a.py:3", "Mul")
        accounts.op("a.py:3", "Mul")
        accounts.op("a.py:3", "Tanh")
        accounts.begin(("a.py:3", "Tanh", "value"), 4096)
        if number == 0:
            accounts.op("a.py:3", "Const")  # while it is traced
    analysis = accounts.analysis(1 << 30)
    assert analysis["steps"]["count"] == 100
    (found,), _ = growth.growing_groups(analysis)
    assert found[1].bytes_per_step == pytest.approx(4096, rel=0.05)
