"""Commands that run a program of the user's: whose option is whose."""

import json
import subprocess
import sys

import pytest

SCRIPT = """
import sys
import tensorflow as tf
print("got", sys.argv[1:])
for _ in range(3):
    tf.square(tf.ones([8]))
"""


@pytest.fixture
def tidemark(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "tidemark", *arguments],
            cwd=tmp_path, capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    return run


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (["--json", "script.py"], []),
        (["script.py", "--json"], []),
        (["script.py", "--n", "3", "--json", "--fail-on", "growth", "data"], ["--n", "3", "data"]),
        (["script.py", "--json", "--fail-on=any", "--", "--json", "-x"], ["--json", "-x"]),
        (["-m", "script", "--json", "-v"], ["-v"]),
    ],
)  # fmt: skip
def test_options_count_before_and_after_the_script(tidemark, arguments, given):
    done = tidemark("doctor", *arguments)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"] == []
    assert f"got {given}" in done.stderr


def test_the_page_goes_where_the_command_says(tidemark, tmp_path):
    done = tidemark("profile", "script.py", "-o", "page.html")
    assert done.returncode == 0 and "got []" in done.stdout, done.stderr
    assert "Memory of script.py<" in (tmp_path / "page.html").read_text()
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["doctor"], "which program?"),
        (["doctor", "--bogus", "script.py"], "--bogus"),
        (["doctor", "script.py", "--fail-on"], "expected one argument"),
        (["doctor", "script.py", "--fail-on", "rain"], "invalid choice"),
        (["profile", "script.py", "-o", "none/page.html"], "no folder"),
    ],
)
def test_wrong_calls_say_so(tidemark, arguments, says):
    done = tidemark(*arguments)
    assert done.returncode == 2 and says in done.stderr
    assert "Traceback" not in done.stderr
