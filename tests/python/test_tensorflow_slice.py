"""Test files in the manner of TensorFlow's own, which import its inner modules, run as they stand.

They pass on TensorFlow 2.21. The whole of its tests is run by tests/tensorflow/run, from sources.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).resolve().parents[1] / "tensorflow" / "slice").glob("*_test.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_all_of_a_file_pass(file):
    command = [sys.executable, "-m", "tidemark", "run", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    ran = re.search(r"Ran (\d+) tests", done.stdout + done.stderr)
    assert int(ran[1]) >= 11
