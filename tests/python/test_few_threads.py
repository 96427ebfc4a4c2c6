"""Where the system starts no more threads: work goes on with fewer, or says so."""

import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.unwatched

PROGRAM = """
import tidemark as tf
a = tf.ones([700, 700])
assert float(tf.reduce_sum(tf.matmul(a, a))) == 700.0**3
try:
    data = tf.data.Dataset.range(100).map(lambda x: x + 1, num_parallel_calls=3).prefetch(2)
    assert sum(int(x) for x in data) == 5050
    iterator = iter(data)
    next(iterator)
    del iterator
    print("all of it")
except tf.errors.ResourceExhaustedError as error:
    assert "cannot start a thread of a pipeline" in str(error), error
    print("refused")
try:
    tf.memory.record("events.tmrec").stop()
except tf.errors.ResourceExhaustedError as error:
    assert "cannot start a thread of a recording" in str(error), error
"""


@pytest.fixture
def library():
    root = pathlib.Path(__file__).resolve().parents[2]
    found = next(root.glob("build*/**/libfail_thread.so"), None)
    if found is None:
        pytest.skip("no libfail_thread.so: it comes with the C++ tests")
    return found


def test_programs_end_well_whichever_thread_does_not_start(library, tmp_path):
    said = []
    for number in range(1, 9):
        environment = {
            **os.environ, "LD_PRELOAD": str(library), "FAIL_THREAD": str(number),
            "OPENBLAS_NUM_THREADS": "1", "TIDEMARK_NUM_THREADS": "3",
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, cwd=tmp_path, timeout=120,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (number, done.stderr)
        said.append(done.stdout.strip())
    assert set(said) == {"all of it", "refused"}
