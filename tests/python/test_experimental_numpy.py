"""``tf.experimental.numpy`` against NumPy itself: the same calls, values and dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import tidemark as tf

tnp = tf.experimental.numpy

MATRIX = np.array([[3, 1, 2], [6, 5, 4]])
FLOATS = np.array([[0.5, -1.5, 2.25], [4.0, 0.0, -3.0]])
SMALL = np.array([3, 0, 7], np.int8)
CUBE = np.arange(24).reshape(2, 3, 4)
GAPS = np.array([1.0, np.nan, 3.0])

OF_FLOATS = """
    abs absolute negative positive sign square fabs fix ceil floor isnan isfinite isinf isneginf
    isposinf signbit sin cos tan sinh cosh tanh arctan arcsinh exp exp2 expm1 cbrt sinc deg2rad
    rad2deg around round sum prod mean std var amax amin max min all any ptp count_nonzero
    cumsum cumprod argmax argmin ravel flatten transpose sort argsort nonzero tril triu
    zeros_like ones_like isreal iscomplex flip fliplr flipud rot90 diff
"""
OF_INTEGERS = """
    sqrt log log2 log10 log1p exp mean std var sum prod cumsum max argmin trace diagflat
    bitwise_not reciprocal square
"""
OF_TWO_FLOATS = """
    add subtract multiply divide true_divide maximum minimum hypot logaddexp logaddexp2 arctan2
    heaviside nextafter equal not_equal less less_equal greater greater_equal logical_and
    logical_or logical_xor isclose allclose array_equal floor_divide mod remainder
"""
OF_TWO_INTEGERS = """
    add subtract multiply true_divide floor_divide mod power float_power gcd lcm bitwise_and
    bitwise_or bitwise_xor divmod dot inner matmul outer
"""

CALLS = [
    *((name, (FLOATS,)) for name in OF_FLOATS.split()),
    *((name, (MATRIX,)) for name in OF_INTEGERS.split()),
    *((name, (SMALL,)) for name in ("sum", "prod", "cumsum", "mean", "diag", "nonzero",
                                    "logical_not", "count_nonzero", "diff")),
    *((name, (FLOATS, FLOATS + 1.5)) for name in OF_TWO_FLOATS.split()),
    *((name, (MATRIX, np.array([4, 2, 3]))) for name in OF_TWO_INTEGERS.split()),
    ("add", (np.float32([1, 2]), 1.5)), ("add", (SMALL, 1)), ("add", (SMALL, MATRIX[0])),
    ("multiply", (SMALL, np.float32([1, 2, 3]))), ("add", ([True, False], [True, True])),
    ("subtract", (np.uint8([9]), np.int8([3]))),
    ("nansum", (GAPS,)), ("nanprod", (GAPS,)), ("nanmean", (GAPS,)),
    ("average", (FLOATS,)), ("average", (FLOATS, 1, [1, 2, 3])),
    ("clip", (MATRIX, 2, 4)), ("sum", (CUBE, (0, 2))), ("mean", (CUBE, 1)), ("amax", (CUBE, -1)),
    ("var", (FLOATS, 0)), ("cumsum", (MATRIX, 1)), ("sort", (MATRIX, 0)), ("argsort", (MATRIX, 1)),
    ("zeros", ((2, 3),)), ("ones", (3,)), ("full", ((2, 2), 7)), ("full_like", (MATRIX, 2)),
    ("eye", (3,)), ("eye", (2, 3, 1)), ("identity", (2,)), ("tri", (3,)),
    ("arange", (5,)), ("arange", (1, 10, 3)), ("arange", (0.0, 1.0, 0.25)), ("arange", (5, 0, -2)),
    ("linspace", (0, 1, 5)), ("linspace", (0, 1, 5, False)), ("logspace", (0, 2, 3)),
    ("geomspace", (1, 1000, 4)), ("geomspace", (-1, -1000, 4)),
    ("diag", ([1, 2, 3], 1)), ("diag", (MATRIX, -1)), ("diag", (MATRIX, 5)),
    ("diagonal", (CUBE, 0, 1, 2)), ("diag_indices", (3,)), ("meshgrid", ([1, 2], [3, 4, 5])),
    ("ix_", ([0, 1], [2])), ("reshape", (CUBE, (4, 6))), ("reshape", (MATRIX, (3, 2), "F")),
    ("swapaxes", (CUBE, 0, 2)), ("moveaxis", (CUBE, 0, -1)), ("moveaxis", (CUBE, (0, 1), (2, 0))),
    ("expand_dims", (MATRIX, 1)), ("squeeze", (CUBE[:1],)), ("atleast_1d", (3,)),
    ("atleast_2d", ([1, 2],)), ("atleast_3d", ([1, 2],)), ("atleast_3d", (MATRIX,)),
    ("broadcast_to", ([1, 2], (3, 2))), ("broadcast_arrays", ([1, 2], [[3], [4]])),
    ("concatenate", ((MATRIX, FLOATS),)), ("concatenate", ((MATRIX, MATRIX), None)),
    ("append", (MATRIX, [1, 2])), ("stack", ((SMALL, SMALL), 1)), ("hstack", (([1], [2, 3]),)),
    ("vstack", (([1, 2], [3, 4]),)), ("dstack", (([1, 2], [3, 4]),)), ("split", (np.arange(6), 3)),
    ("split", (np.arange(8), [3, 5, 6, 10])), ("hsplit", (MATRIX, 3)), ("vsplit", (MATRIX, 2)),
    ("dsplit", (CUBE, 2)), ("pad", (MATRIX, ((1, 0), (0, 2)), "constant")), ("tile", ([1, 2], 2)),
    ("tile", ([1, 2], (2, 1))), ("repeat", (MATRIX, 2)), ("repeat", (MATRIX, 2, 1)),
    ("take", (MATRIX, [0, 2], 1)), ("take_along_axis", (MATRIX, np.argsort(MATRIX, 1), 1)),
    ("take_along_axis", (MATRIX, np.array([[1, 0, 1]]), 0)),
    ("where", ([True, False], [1, 2], [3.0, 4.0])),
    ("compress", ([True, False], MATRIX, 0)), ("roll", (MATRIX, 1)), ("roll", (MATRIX, 1, 1)),
    ("rot90", (MATRIX, 2)), ("rot90", (MATRIX, 3)), ("flip", (CUBE, 1)), ("diff", (MATRIX, 2)),
    ("cross", ([1, 2, 3], [4, 5, 6])), ("kron", (MATRIX, [[1, 2]])), ("vdot", (MATRIX, MATRIX)),
    ("tensordot", (CUBE, CUBE, [[0, 1], [0, 1]])), ("polyval", ([1, 2, 3], [0, 1, 2])),
    ("matmul", (MATRIX, MATRIX.T)), ("matmul", ([1, 2], MATRIX)), ("angle", ([1 + 1j, 2j],)),
    ("real", ([1 + 2j],)), ("imag", ([1 + 2j],)), ("conj", ([1 + 2j],)),
    ("shape", (CUBE,)), ("ndim", (CUBE,)), ("size", (CUBE,)), ("isscalar", (3,)),
    ("iscomplexobj", ([1j],)), ("isrealobj", ([1.0],)), ("result_type", (np.int8, np.float16)),
    ("promote_types", (np.int32, np.float32)), ("vander", (MATRIX[0],)),
    ("array", ([1, 2.5],)), ("asarray", (3,)),
    ("einsum", ("ij,kj->ik", MATRIX, FLOATS)), ("issubdtype", (np.int8, np.integer)),
]  # fmt: skip
# What TensorFlow computes in another dtype than NumPy, so that values alone are compared.
OTHER_DTYPES = {"diag_indices", "fix", "ceil", "floor", "around", "round"}


def parts(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=lambda given: str(given)[:40])
def test_is_what_numpy_gives(name, arguments):
    theirs = parts(getattr(np, "amax" if name == "max" else name)(*arguments)
                   if name != "flatten" else arguments[0].flatten())  # fmt: skip
    ours = parts(getattr(tnp, name)(*arguments))
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        if not hasattr(mine, "numpy"):
            assert mine == wanted
            continue
        assert tuple(mine.shape) == np.shape(wanted)
        np.testing.assert_allclose(mine.numpy(), wanted, rtol=1e-9, atol=1e-12)
        if name not in OTHER_DTYPES:
            assert mine.dtype.as_numpy_dtype == np.asarray(wanted).dtype


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: tnp.clip([1], None, None), ValueError),
        (lambda: tnp.take([1], [0], mode="other"), ValueError),
        (lambda: tnp.diag(np.zeros([1, 1, 1])), ValueError),
        (lambda: tnp.sum(MATRIX, 5), ValueError),
        (lambda: tnp.where([True], 1), ValueError),
        (lambda: tnp.random.randint(3, dtype=float), ValueError),
        (lambda: tnp.no_such_function, AttributeError),
    ],
)
def test_refuses_what_it_cannot_do(call, error):
    with pytest.raises(error):
        call()


def test_random_numbers_repeat_after_a_seed():
    drawn = []
    for _ in range(2):
        tnp.random.seed(7)
        drawn.append([
            tnp.random.randn(2, 3), tnp.random.rand(4), tnp.random.uniform(2.0, 3.0, [5]),
            tnp.random.randint(10, size=[6]), tnp.random.poisson(3.0, [7]),
        ])  # fmt: skip
    for first, second in zip(*drawn, strict=True):
        np.testing.assert_array_equal(first.numpy(), second.numpy())
    assert drawn[0][0].shape == (2, 3) and drawn[0][0].dtype == tf.float64
    assert ((drawn[0][2] >= 2.0) & (drawn[0][2] < 3.0)).numpy().all()
    assert ((drawn[0][3] >= 0) & (drawn[0][3] < 10)).numpy().all()


def test_works_where_a_function_is_traced():
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.int32)])
    def spread(x):
        return tnp.std(x, 0) + tnp.mean(tnp.flip(x, 1), 0)

    given = MATRIX.astype(np.int32)
    wanted = np.std(given, 0) + np.mean(np.flip(given, 1), 0)
    np.testing.assert_allclose(spread(given).numpy(), wanted)
