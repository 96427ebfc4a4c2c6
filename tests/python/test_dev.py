"""./dev knows its verbs, tells them apart from mistakes, and CI calls it."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERBS = ["run", "test", "build", "bench", "format", "lint"]
VERBS += ["asan", "tsan", "fuzz", "faults", "help"]


def dev(*arguments):
    return subprocess.run([ROOT / "dev", *arguments], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_is_described_and_defined(verb):
    assert re.search(rf"^  {verb}\b.* \w+", dev("help").stdout, re.MULTILINE)
    assert f"\ndev_{verb}() {{" in (ROOT / "dev").read_text()


def test_works_from_any_folder(tmp_path):
    done = subprocess.run([ROOT / "dev"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == dev("help").stdout


def test_unknown_verb_is_refused():
    done = dev("tset")
    assert done.returncode == 1
    assert "no verb 'tset'" in done.stderr and "./dev help" in done.stderr


def test_tests_take_known_options_only():
    done = dev("test", "--configuration")
    assert done.returncode == 1
    assert "--configurations" in done.stderr


def test_the_part_that_is_repeated_in_each_configuration_exists():
    text = (ROOT / "dev").read_text()
    names = re.search(r"FUNCTION_TESTS=\(([^)]*)\)", text)[1].split()
    assert len(names) > 10
    for name in names:
        assert (ROOT / "tests" / "python" / f"{name}.py").exists(), name


def test_ci_runs_the_tests():
    assert "./dev test" in (ROOT / ".ci" / "run").read_text()
