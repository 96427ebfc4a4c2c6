"""Workers that mpirun started: MPI carries what they send."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import worker_programs
import workers
from environments import UNLIMITED

from tidemark import _tidemark

PROGRAM = """
import json, os, sys
import numpy as np
import tidemark as tf
import worker_programs as programs

strategy = tf.distribute.MultiWorkerMirroredStrategy()
group, rank, count = strategy._group, strategy._rank, strategy.num_replicas_in_sync
if sys.argv[1] == "fit":
    print(json.dumps(programs.keras_fit("", "-1", None)))
elif sys.argv[1] == "sums":
    rng = np.random.default_rng(0)
    for elements in (0, 1, 5, 20_000, 3_000_001):
        given = rng.normal(size=(count, elements)).astype(np.float32)
        (found,) = group.all_reduce([tf.constant(given[rank])])
        expected = given[0]
        for more in given[1:]:
            expected = expected + more
        np.testing.assert_array_equal(found.numpy(), expected)
        np.testing.assert_array_equal(group.all_gather([tf.constant(given[rank])]),
                                      given.reshape(-1))
    group.barrier()
    print(json.dumps([rank, count, group.exchange(b"%d" % rank)[-1].decode()]))
elif sys.argv[1] == "differ":
    try:
        group.barrier() if rank else group.all_reduce([tf.ones([4])])
    except tf.errors.UnavailableError as error:
        print(json.dumps(error.message), flush=True)
        os._exit(0)
"""


def is_built():
    return Path(_tidemark.__file__).with_name("libtidemark_mpi.so").exists()


pytestmark = pytest.mark.skipif(
    shutil.which("mpirun") is None or not is_built(),
    reason="needs mpirun, and a build that found MPI (libopenmpi-dev)",
)


def by_mpirun(tmp_path, count, *arguments, **environment):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(count),
               sys.executable, str(program), *arguments]  # fmt: skip
    paths = [str(Path(worker_programs.__file__).parent), *sys.path]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120,
        env={**UNLIMITED, "TIDEMARK_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths),
             **environment},
    )  # fmt: skip
    told = sorted(map(json.loads, done.stdout.splitlines()), key=str)
    return done.returncode, told, done.stderr[-3000:]


def all_of(ended):
    status, told, errors = ended
    assert status == 0, errors
    return told


@pytest.mark.parametrize("count", [2, 3])
def test_collectives(tmp_path, count):
    found = all_of(by_mpirun(tmp_path, count, "sums"))
    assert found == [[rank, count, str(count - 1)] for rank in range(count)]


def test_training_is_that_over_gloo(tmp_path):
    over_gloo, _ = workers.run(2, "keras_fit")
    for told in all_of(by_mpirun(tmp_path, 2, "fit")):
        assert told["weights"] == over_gloo["weights"] and told["loss"] == over_gloo["loss"]


def test_workers_that_do_different_things_are_told(tmp_path):
    # Whoever ends first then has mpirun end the other, which may have been told or not.
    status, told, errors = by_mpirun(tmp_path, 2, "differ")
    assert status != 0 and 1 <= len(told) <= 2, errors
    for text in told:
        assert "different things" in text and "barrier" in text
