"""Programs over tensors give the results and errors that TensorFlow 2.21 gave."""

import importlib.util
import json
from pathlib import Path

import pytest
from autograph_programs import PROGRAMS
from staged import (
    ARRAYS_IN_GRAPHS,
    ASSERTIONS_IN_GRAPHS,
    INVARIANTS_IN_GRAPHS,
    staged,
)
from tidemark.autograph._impl import converted

import tidemark as tf

pytestmark = pytest.mark.unwatched

HERE = Path(__file__).resolve().parent
RECORDED = json.loads((HERE / "data" / "tf_autograph.json").read_text())

_spec = importlib.util.spec_from_file_location(
    "record_autograph", HERE.parents[1] / "tools" / "record_autograph.py"
)
record_autograph = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(record_autograph)


def number(value, dtype="int32"):
    return {"dtype": dtype, "shape": [], "values": value}


# What TensorFlow refuses or gets wrong, and what Python says.
BETTER = {
    "several_returns": [number(2), number(4000), number(-1)],
    "conversions": [
        [number(3), number(3.0, "float32"), number(3), number(3), number(1)],
        [number(-3), number(-3.0, "float32"), number(3), number(1), number(-3)],
    ],
    "changes_outer": [number(23)],
    "walrus": [number(7), number(60)],
}


def cases():
    for function, calls in PROGRAMS:
        told = BETTER.get(function.__name__, RECORDED[function.__name__])
        for call, expected in zip(calls, told, strict=True):
            yield pytest.param(function, call, expected, id=f"{function.__name__}{call}")


@pytest.mark.parametrize(("function", "call", "expected"), list(cases()))
def test_staged_as_tensorflow(function, call, expected):
    with staged():
        assert record_autograph.outcome(tf, converted(function), call) == expected


# Programs that need something in graphs besides conditions and loops, and whether it is there.
NEEDS = {
    "first_value_in_loop": ASSERTIONS_IN_GRAPHS,
    "starts_as_none": ASSERTIONS_IN_GRAPHS,
    "shape_invariant": INVARIANTS_IN_GRAPHS,
    "tensor_array": ARRAYS_IN_GRAPHS,
}


@pytest.mark.parametrize(("function", "call", "expected"), list(cases()))
def test_traced_as_tensorflow(function, call, expected):
    if not NEEDS.get(function.__name__, True):
        pytest.skip("graphs cannot hold what this program uses yet")
    assert record_autograph.outcome(tf, tf.function(function), call) == expected


@pytest.mark.parametrize(("function", "call", "expected"), list(cases()))
def test_eager_conversion_computes_as_python(function, call, expected):
    run = tf.autograph.to_graph(function)
    assert record_autograph.outcome(tf, run, call) == record_autograph.outcome(tf, function, call)


def test_every_program_was_recorded():
    assert list(RECORDED) == [function.__name__ for function, _ in PROGRAMS]
