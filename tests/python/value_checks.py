"""Which ops have been checked by value: run, and then compared with a reference.

While a test runs, the ops it calls are noted. A comparison with NumPy's assertions, or with
``assert_close`` of arrays.py, or with recorded results, counts for the ops that ran since the one
before. At the end of a whole run, an op that no passing test has compared fails the run.
"""

from __future__ import annotations

import functools

import numpy as np

from tidemark import _tidemark

_IO = "tests/python/test_io.py, against literal bytes by plain assertions"
_FILES = "tests/python/test_image_files.py, against recorded files by plain assertions"
_TABLES = "tests/python/test_lookup.py, against literal values by plain assertions"

# Ops checked elsewhere, and where.
ELSEWHERE = {
    "decode_base64": _IO,
    "decode_compressed": _IO,
    "encode_base64": _IO,
    "encode_jpeg": _FILES,
    "extract_jpeg_shape": _FILES,
    "parse_example_var": _IO,
    "read_file": _IO,
    "split_csv": _IO,
    "table_export": _TABLES,
    "table_size": _TABLES,
    "max_pool_take": "tests/cpp/second_order_test.cpp",
    "random_binomial": "tests/python/test_random.py, by the moments of many draws",
    "random_full_int": "tests/python/test_random.py, by the range of many draws",
    "stateless_random_shuffle": "tests/python/test_random.py, as a permutation",
    "stateless_random_uniform_int": "tests/python/test_random.py, by the range of many draws",
}

COMPARISONS = ("assert_allclose", "assert_array_equal", "assert_array_almost_equal", "assert_equal")

OWN_OPS = {op["name"] for op in _tidemark.list_ops()}  # before a test loads other libraries
checked: set[str] = set()
_pending: set[str] = set()  # compared in the test that is running


def compared():
    """Called after a comparison that held."""
    _pending.update(_tidemark.watched_ops())


def _noting(function):
    @functools.wraps(function)
    def assertion(*args, **kwargs):
        # The values may be computed lazily, by the comparison itself.
        result = function(*args, **kwargs)
        compared()
        return result

    return assertion


def install():
    """Lets NumPy's assertions tell what they have compared."""
    for name in COMPARISONS:
        setattr(np.testing, name, _noting(getattr(np.testing, name)))


def begin():
    """A test begins."""
    _pending.clear()
    _tidemark.watch_ops(True)


def end(passed):
    """A test has ended."""
    _tidemark.watch_ops(False)
    if passed:
        checked.update(_pending)
    _pending.clear()


def unchecked():
    """The ops without a comparison."""
    # Ops that only gradients call are checked with them: tests/cpp/gradients_test.cpp asks for a
    # sample of each op that has one.
    wanted = {name for name in OWN_OPS if not name.endswith("_grad")}
    return sorted(wanted - checked - set(ELSEWHERE))
