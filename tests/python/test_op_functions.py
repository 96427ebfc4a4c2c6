"""Every op of the registry as a function: traced for its sizes or for any, planned or not, alone
or fused with its neighbours, it gives what the call gives at once.

The calls are those of test_op_properties, drawn by tests/python/op_cases.
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
# Fused functions are polynomials, within 2.5 units in the last place of the exact result; the
# op's own loop is as far off to the other side at most.
FUSED_ULPS = 6
# The sizes of their inputs depend on each other, on the rank or on an attribute, so they cannot be
# traced where all of them are unknown; the others must be.
NEED_SIZES = {
    "convolution_filter_grad", "convolution_input_grad", "draw_bounding_boxes", "irfft",
    "max_pool_grad", "max_pool_take", "mirror_pad_grad", "non_max_suppression", "pad",
    "set_diag", "set_diags", "split", "stateless_random_binomial", "stateless_random_full_int",
    "stateless_random_gamma", "stateless_random_normal", "stateless_random_poisson",
    "stateless_random_shuffle", "stateless_random_truncated_normal",
    "stateless_random_uniform", "stateless_random_uniform_int", "stream_random_normal",
    "stream_random_truncated_normal", "stream_random_uniform", "strided_slice",
    "tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub", "tensor_scatter_nd_update", "tensor_strided_slice_update", "tile",
    "tridiagonal_solve", "unstack",
}  # fmt: skip

quick = settings(
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    max_examples=3,
    phases=[Phase.generate],
)


def call_of(op, attrs):
    """The op as a function of tensors that gives a list."""

    def call(*inputs):
        results = _tidemark.call(op, list(inputs), attrs)
        return results if isinstance(results, list) else [results]

    return call


def with_neighbours(call):
    """The same between two sums, so that what can be fused is."""

    def longer(*inputs):
        return [r + r if r.dtype.is_floating else r for r in call(*inputs)]

    return longer


def arrays(results):
    return [np.array(r.numpy(), object if r.dtype == tf.string else None) for r in results]


def seeded(function, inputs):
    tf.random.set_seed(7)
    return arrays(function(*inputs))


def assert_same(got, want, ulps, what):
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype), what
        rounding = EPS.get(name_of(w.dtype))
        if not ulps or rounding is None or w.dtype.kind == "c":
            np.testing.assert_array_equal(g, w, err_msg=what)
        else:
            np.testing.assert_allclose(
                g.astype(np.float64), w.astype(np.float64), rtol=ulps * rounding, err_msg=what
            )


def compare(op, example):
    call = call_of(op, example.attrs)
    inputs = [tf.constant(x) if isinstance(x, np.ndarray) else x for x in example.inputs]
    tensors = [x for x in inputs if isinstance(x, tf.Tensor)]

    def of_tensors(chosen):
        def function(*given):
            rest = iter(given)
            return chosen(*[next(rest) if isinstance(x, tf.Tensor) else x for x in inputs])

        return function

    plain, longer = of_tensors(call), of_tensors(with_neighbours(call))
    want, wanted_sums = seeded(plain, tensors), seeded(longer, tensors)
    planned = tf.function(plain, autograph=False)
    assert_same(seeded(planned, tensors), want, 0, f"{op}: planned for its sizes")
    with tf.GradientTape():  # records calls, so nothing is planned under it
        assert_same(seeded(planned, tensors), want, 0, f"{op}: not planned")
    if op not in NEED_SIZES:
        signature = [tf.TensorSpec([None] * t.shape.rank, t.dtype) for t in tensors]
        any_size = tf.function(plain, input_signature=signature, autograph=False)
        # Traced for any size, a function is planned when sizes come for the second time.
        for times in ("first", "second"):
            assert_same(seeded(any_size, tensors), want, 0, f"{op}: of any size, {times} call")
    fused = tf.function(longer, autograph=False)
    assert_same(seeded(fused, tensors), wanted_sums, FUSED_ULPS, f"{op}: among others")


@pytest.mark.hypothesis
@pytest.mark.parametrize("op", ALL)
def test_functions_give_what_calls_give(op):
    @quick
    @given(st.data())
    def one(data):
        dtype = data.draw(st.sampled_from(dtypes_of(OPS[op])), label="dtype")
        compare(op, CASES[op](Draw(data, op, dtype)))

    with np.errstate(all="ignore"):
        one()
