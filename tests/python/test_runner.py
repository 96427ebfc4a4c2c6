"""``python -m tidemark program.py`` behaves as ``python program.py`` does."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import tidemark


def run(*arguments, folder, **environment):
    # The programs lie elsewhere: they find the package as this process did.
    home = os.path.dirname(os.path.dirname(tidemark.__file__))
    path = os.pathsep.join([home, os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "tidemark", *arguments], cwd=folder, capture_output=True, text=True,
        timeout=120, env={**os.environ, "PYTHONPATH": path, **environment}, check=False,
    )  # fmt: skip


def program(folder, text, name="program.py"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return str(path)


def test_arguments_main_and_imports(tmp_path):
    path = program(tmp_path, (
        "import sys, tensorflow as tf, tensorflow.compat.v1 as v1\n"
        "from tensorflow.compat import v1 as again\n"
        "print(__name__, __file__, sys.argv[1:], tf.constant(1).numpy(), v1 is again)\n"
        "print(sys.modules['__main__'].__file__)\n"
    ))  # fmt: skip
    seen = run(path, "--flag", "x", folder=tmp_path)
    assert seen.stdout == f"__main__ {path} ['--flag', 'x'] 1 True\n{path}\n", seen.stderr
    assert seen.returncode == 0


@pytest.mark.parametrize("way, status", [("sys.exit(7)", 7), ("sys.exit()", 0),
                                         ("sys.exit('bad')", 1), ("raise SystemExit(3)", 3),
                                         ("1 / 0", 1)])  # fmt: skip
def test_the_exit_status_is_the_programs(tmp_path, way, status):
    seen = run(program(tmp_path, f"import sys\n{way}\n"), folder=tmp_path)
    assert seen.returncode == status


def test_tracebacks_show_the_program_alone(tmp_path):
    path = program(tmp_path, "def f():\n    raise ValueError('no')\n\nf()\n")
    seen = run(path, folder=tmp_path)
    lines = seen.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):" and lines[-1] == "ValueError: no"
    assert [line.split(",")[0] for line in lines if line.startswith("  File")] == [
        f'  File "{path}"', f'  File "{path}"'
    ]  # fmt: skip


def test_a_module_runs(tmp_path):
    program(tmp_path, "", "package/__init__.py")
    program(tmp_path, (
        "import sys, tensorflow as tf\nfrom package import other\n"
        "print(__name__, __package__, sys.argv[1:], other.VALUE.numpy())\n"
    ), "package/__main__.py")  # fmt: skip
    program(tmp_path, "import tensorflow as tf\nVALUE = tf.constant(4)\n", "package/other.py")
    seen = run("-m", "package", "a", folder=tmp_path)
    assert seen.stdout == "__main__ package ['a'] 4\n", seen.stderr
    seen = run("-m", "no_such_module", folder=tmp_path)
    assert seen.returncode != 0 and "no_such_module" in seen.stderr


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_multiprocessing(tmp_path, method):
    path = program(tmp_path, (
        "import multiprocessing, os\nimport tensorflow as tf\n\n"
        "def work(n):\n    return float(tf.reduce_sum(tf.ones([n])))\n\n"
        "if __name__ == '__main__':\n"
        f"    with multiprocessing.get_context('{method}').Pool(2) as pool:\n"
        "        print(pool.map(work, [1, 2, 3]))\n"
    ))  # fmt: skip
    seen = run(path, folder=tmp_path)
    assert seen.stdout == "[1.0, 2.0, 3.0]\n", seen.stderr


def test_processes_that_the_program_starts(tmp_path):
    path = program(tmp_path, (
        "import os, subprocess, sys\n"
        "if 'child' in sys.argv:\n"
        "    import tensorflow as tf\n"
        "    total = float(tf.reduce_sum(tf.ones([3])))\n"
        "    print(tf.__name__, total, os.environ['PYTHONPATH'][-5:])\n"
        "else:\n"
        "    subprocess.run([sys.executable, __file__, 'child'], check=True)\n"
    ))  # fmt: skip
    seen = run(path, folder=tmp_path, PYTHONPATH=os.pathsep.join([*sys.path, "/last"]))
    assert seen.stdout == "tidemark 3.0 /last\n", seen.stderr


def test_the_report(tmp_path):
    path = program(tmp_path, "import tensorflow as tf\nkept = tf.ones([1000])\nprint('done')\n")
    seen = run("run", "--report", path, folder=tmp_path)
    assert seen.returncode == 0 and seen.stdout == "done\n"
    assert "live" in seen.stderr or "program.py:2" in seen.stderr


def test_what_cannot_be_run(tmp_path):
    seen = run("missing.py", folder=tmp_path)
    assert seen.returncode == 2 and "can't open file" in seen.stderr
    seen = run(program(tmp_path, "x = = 1\n"), folder=tmp_path)
    assert seen.returncode == 1 and "SyntaxError" in seen.stderr
