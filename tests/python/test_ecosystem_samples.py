"""Fixed samples of packages' own tests: what they name, and how they are run."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "ecosystem"
SAMPLES = sorted(FOLDER.glob("samples/*.txt"))

TESTS = """
import os
import tensorflow as tf

def test_adds():
    import tidemark
    assert tf is tidemark and int(tf.constant(1) + 2) == 3

def test_fails():
    assert int(tf.constant(1)) == 2

def test_is_not_in_the_sample():
    os._exit(3)
"""


@pytest.fixture(scope="module")
def own_tests():
    loader = importlib.machinery.SourceFileLoader("own_tests", str(FOLDER / "own_tests"))
    spec = importlib.util.spec_from_loader("own_tests", loader)
    module = importlib.util.module_from_spec(spec)
    dont_write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = dont_write
    return module


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_are_of_known_packages(own_tests, path):
    names = path.read_text(encoding="utf-8").splitlines()
    assert len(names) > 100 and names == sorted(set(names))
    assert all(".py::" in name for name in names)
    assert path.stem in own_tests.packages.known()


def test_a_sample_is_run_as_tensorflow(own_tests, tmp_path, monkeypatch):
    (tmp_path / "test_some.py").write_text(TESTS)
    names = tmp_path / "names"
    names.write_text("test_some.py::test_adds\ntest_some.py::test_fails\n")
    monkeypatch.delenv("TIDEMARK_MEMORY_LIMIT", raising=False)
    found, to_its_end = own_tests.run_tests(sys.executable, tmp_path, names, ["test_some.py"])
    assert to_its_end
    assert found == {"test_some.py::test_adds": "passed", "test_some.py::test_fails": "failed"}
    names.write_text("test_some.py::test_is_not_in_the_sample\n")
    found, to_its_end = own_tests.run_tests(sys.executable, tmp_path, names, ["test_some.py"])
    assert not to_its_end and not found
