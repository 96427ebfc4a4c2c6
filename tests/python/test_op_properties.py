"""Every op of the registry: its results against a reference, and the same whatever the threads.

The registry is the list. tests/python/op_cases says how to draw calls of each op; an op that is not
there fails here.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from op_cases import CASES, Draw, dtypes_of
from op_cases.drawing import EPS, name_of

import tidemark as tf
from tidemark import _tidemark

OPS = {op["name"]: op for op in _tidemark.list_ops()}
ALL = sorted(OPS)

quick = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None)


def run(op, example):
    """The outputs of a call, as arrays."""
    tf.random.set_seed(7)
    inputs = [tf.constant(x) if isinstance(x, np.ndarray) else x for x in example.inputs]
    results = _tidemark.call(op, inputs, example.attrs)
    results = results if isinstance(results, list) else [results]
    return [np.array(r.numpy(), object if r.dtype == tf.string else None) for r in results]


def compare(got, want, example):
    want = np.asarray(want)
    assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
    assert name_of(got.dtype) == name_of(want.dtype), f"{got.dtype}, expected {want.dtype}"
    rounding = EPS.get(name_of(got.dtype))
    if rounding is None:
        np.testing.assert_array_equal(got, want)
        return
    kind = np.complex128 if got.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        got.astype(kind),
        want.astype(kind),
        rtol=example.ulps * rounding,
        atol=example.atol * rounding,
    )


def check(example, outputs):
    if example.check:
        example.check(outputs)
    if example.expected:
        wanted = example.expected()
        wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        assert len(outputs) == len(wanted)
        for got, want in zip(outputs, wanted, strict=True):
            compare(got, want, example)


def test_every_op_has_a_case():
    assert not set(ALL) - set(CASES), f"no case in op_cases: {sorted(set(ALL) - set(CASES))}"
    assert not set(CASES) - set(ALL), f"cases of no op: {sorted(set(CASES) - set(ALL))}"


@pytest.mark.hypothesis
@pytest.mark.parametrize("op", ALL)
def test_values(op):
    def explore(dtype):
        @settings(quick, max_examples=4)
        @given(st.data())
        def one(data):
            example = CASES[op](Draw(data, op, dtype))
            check(example, run(op, example))

        one()

    with np.errstate(all="ignore"):
        for dtype in dtypes_of(OPS[op]):
            explore(dtype)


def bits(array):
    return array.tolist() if array.dtype == object else array.tobytes()


def run_with_threads(op, example):
    """The results with 1, 2 and 7 threads."""
    before = _tidemark.num_threads()
    try:
        for threads in (1, 2, 7):
            _tidemark.set_num_threads(threads)
            yield run(op, example)
    finally:
        _tidemark.set_num_threads(before)


@pytest.mark.hypothesis
@pytest.mark.parametrize("op", ALL)
def test_large_values_with_any_number_of_threads(op):
    """Right, and bit for bit the same with 1, 2 and 7 threads, on sizes cut into pieces."""

    @settings(quick, max_examples=6, phases=[Phase.generate])
    @given(st.data())
    def one(data):
        dtype = data.draw(st.sampled_from(dtypes_of(OPS[op])), label="dtype")
        example = CASES[op](Draw(data, op, dtype, large=True))
        first, *others = run_with_threads(op, example)
        for other in others:
            for a, b in zip(first, other, strict=True):
                assert (a.shape, a.dtype) == (b.shape, b.dtype)
                assert bits(a) == bits(b), "the number of threads makes a difference"
        if not example.slow:
            check(example, first)

    with np.errstate(all="ignore"):
        one()
