"""tidemark check: each pattern is told with its line, what only looks like one is not."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tidemark._check import checking, output, rules

ROOT = Path(__file__).parents[2]
HEAD = "import tensorflow as tf\nimport numpy as np\n"
# rule → (a program with the pattern, the text on its line, one that only looks like it)
CASES = {
    "tensors-gathered": (
        "kept = []\nfor i in range(1000):\n    y = tf.square(x)\n    kept.append(y)\n",
        "kept.append(y)",
        "kept = []\nfor i in range(1000):\n    kept.append(tf.square(x))\nz = tf.stack(kept)\n",
    ),
    "persistent-tape": (
        "for x in data:\n    with tf.GradientTape() as tape:\n        y = f(x)\n    "
        "tapes.append(tape)\n",
        "tapes.append(tape)",
        "for x in data:\n    with tf.GradientTape() as tape:\n        y = f(x)\n    "
        "grads.append(tape.gradient(y, v))\n",
    ),
    "traceback-holds": (
        "try:\n    f()\nexcept ValueError as error:\n    errors.append(error)\n",
        "errors.append(error)",
        "try:\n    f()\nexcept ValueError as error:\n    errors.append(str(error))\n",
    ),
    "function-in-loop": (
        "for i in range(3):\n    @tf.function\n    def f(x):\n        return x\n",
        "def f(x)",
        "for i in range(3):\n    def make():\n        return tf.function(g)\n",
    ),
    "constants-baked-in": (
        "data = np.ones(9)\n@tf.function\ndef f(x):\n    return x + tf.constant(data)\n",
        "tf.constant(data)",
        "data = np.ones(9)\n@tf.function\ndef f(x, data):\n    return x + tf.constant(data)\n",
    ),
    "graph-grows": (
        "for i in range(9):\n    y = sess.run(x + 1)\n",
        "sess.run(x + 1)",
        "y = x + 1\nfor i in range(9):\n    sess.run(y)\n",
    ),
    "captured-state": (
        "rate = 0.5\n@tf.function\ndef f(x):\n    return x * rate\nfor i in range(9):\n    f(x)\n"
        "    rate *= 0.9\n",
        "x * rate",
        "rate = 0.5\n@tf.function\ndef f(x, rate):\n    return x * rate\nfor i in range(9):\n"
        "    f(x, rate)\n    rate *= 0.9\n",
    ),
    "history-kept": (
        "with tf.GradientTape() as tape:\n    for x in dataset:\n        total += loss(x)\n",
        "total += loss(x)",
        "for x in dataset:\n    with tf.GradientTape() as tape:\n        total += loss(x)\n",
    ),
    "dataset-in-loop": (
        "for i in range(500):\n    d = tf.data.Dataset.from_tensor_slices(rows)\n"
        "    train_step(d)\n",
        "from_tensor_slices(rows)",
        "for file in files:\n    d = tf.data.Dataset.from_tensor_slices(file)\n"
        "    train_step(d)\n",
    ),
    "variables-each-step": (
        "for i in range(500):\n    v = tf.Variable(0.0)\n    train_step(v)\n",
        "tf.Variable(0.0)",
        "for size in sizes:\n    weights.append(tf.Variable(tf.zeros([size])))\n",
    ),
    "sessions-left-open": (
        "for i in range(5):\n    sess = tf.compat.v1.Session()\n    sess.run(y)\n",
        "tf.compat.v1.Session()",
        "for i in range(5):\n    sess = tf.compat.v1.Session()\n    sess.run(y)\n"
        "    sess.close()\n",
    ),
    "retrace-argument": (
        "@tf.function\ndef f(x, n):\n    return x * n\nfor i in range(9):\n    f(x, i)\n",
        "f(x, i)",
        "@tf.function\ndef f(x, n):\n    return x * n\nfor i in range(9):\n"
        "    f(x, tf.constant(i))\n",
    ),
}  # fmt: skip


def found(text):
    return checking.check_text("train.py", HEAD + text)


def test_every_rule_has_a_case():
    assert set(CASES) == set(rules.ALL)


@pytest.mark.parametrize("rule", CASES)
def test_a_pattern_is_told_with_its_line(rule):
    bad, line, good = CASES[rule]
    alarms = [a for a in found(bad) if a.rule == rule]
    assert len(alarms) == 1 and len(found(bad)) == 1
    assert line in (HEAD + bad).splitlines()[alarms[0].line - 1]
    assert alarms[0].message and alarms[0].fix
    assert found(good) == []


def test_an_alarm_can_be_ignored_by_its_rule():
    text = "for i in range(3):\n    f = tf.function(g){}\n"
    assert found(text.format(""))
    assert not found(text.format("  # tidemark: ignore[function-in-loop]"))
    assert not found(text.format("  # tidemark: ignore"))
    assert found(text.format("  # tidemark: ignore[graph-grows]"))
    assert found(text.format("; s = '# tidemark: ignore'"))


def test_a_file_that_does_not_use_the_library_is_left_in_peace():
    text = CASES["traceback-holds"][0]
    assert found(text) and checking.check_text("other.py", text) == []


@pytest.mark.parametrize(
    "line, fix",
    [
        ("kept.append(y)", "kept.append(float(y))"),
        ("kept.add(y)", "kept.add(float(y))"),
        ("kept[i] = y", "kept[i] = float(y)"),
        ("kept[i] = (i, y)", "add a number to kept, or let the oldest go"),
        ("kept.append((i, y))", "add a number to kept, or let the oldest go"),
        ("heapq.heappush(kept, y)", "add a number to kept, or let the oldest go"),
    ],
)
def test_what_is_to_be_written_instead_fits_the_line(line, fix):
    (alarm,) = found(f"for i in range(1000):\n    y = tf.square(x)\n    {line}\n")
    assert alarm.fix == fix


def test_healthy_programs_and_examples_have_no_alarms():
    healthy = sorted(ROOT.glob("tests/doctor/**/fixed/*.py")) + sorted(ROOT.glob("examples/*.py"))
    assert len(healthy) > 40
    assert [a for path in healthy for a in checking.check_file(path)] == []


def test_formats():
    bad = CASES["function-in-loop"][0]
    (alarm,) = found(bad)
    assert json.loads(output.as_json([alarm]))["alarms"][0]["end_column"] == alarm.end_column
    (run,) = json.loads(output.sarif([alarm]))["runs"]
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region["startLine"] == alarm.line
    rule = run["tool"]["driver"]["rules"][run["results"][0]["ruleIndex"]]
    assert rule["id"] == "function-in-loop"
    assert output.github([alarm]).startswith(f"::warning file=train.py,line={alarm.line},")
    assert max(map(len, output.text([alarm]).splitlines())) <= 80


def test_columns_and_lines_are_as_editors_count_them():
    text = "for i in range(3):\n    s = '\U0001f40c'; f = tf.function(g)\n"
    (alarm,) = found(text)
    assert alarm.column == len("    s = '##'; f = ") + 1  # a snail has two units
    (told,) = json.loads(output.lsp([alarm]))
    (one,) = told["diagnostics"]
    assert told["uri"].startswith("file:///") and told["uri"].endswith("/train.py")
    assert one["range"]["start"] == {"line": alarm.line - 1, "character": alarm.column - 1}
    assert one["range"]["end"]["character"] == one["range"]["start"]["character"] + 14
    assert one["code"] == "function-in-loop" and one["severity"] == 2 and one["data"]["fix"]


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "tidemark", "check", *map(str, arguments)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_the_command_says_by_its_status_what_it_found(tmp_path):
    bad, good, broken = tmp_path / "bad.py", tmp_path / "good.py", tmp_path / "broken.py"
    bad.write_text(HEAD + CASES["function-in-loop"][0])
    good.write_text(HEAD)
    broken.write_text("def (:\n")
    assert command(good).returncode == 0
    assert command(tmp_path).returncode == 1
    assert json.loads(command("--json", bad).stdout)["alarms"][0]["file"] == str(bad)
    done = command(broken)
    assert done.returncode == 2 and "no Python source" in done.stderr
    assert command(tmp_path / "missing.py").returncode == 2


def test_the_hook_needs_no_runtime(tmp_path):
    """It is run as pre-commit runs it, by a Python that has no Tidemark."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    entry = re.search(r"entry: (\S+)", text)[1]
    assert "types: [python]" in text and os.access(ROOT / entry, os.X_OK)
    bad, good = tmp_path / "bad.py", tmp_path / "good.py"
    bad.write_text(HEAD + CASES["function-in-loop"][0])
    good.write_text(HEAD)
    for file, status in ((bad, 1), (good, 0)):
        done = subprocess.run(
            [sys.executable, "-I", "-S", ROOT / entry, file], capture_output=True, text=True
        )
        assert done.returncode == status, done.stderr
        assert ("function-in-loop" in done.stdout) == (status == 1)
