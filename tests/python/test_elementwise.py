"""Elementwise ops against NumPy and the math module, over dtypes, shapes, NaN and infinity."""

import math

import numpy as np
import pytest
from arrays import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMERIC,
    PLAIN,
    REAL,
    SHAPES,
    SIGNED,
    assert_close,
    sample,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemark as tf

INEXACT = FLOATS + COMPLEX


def scalar(function):
    """A function of one float as one of arrays; what it refuses is NaN."""

    def one(x):
        try:
            return function(x)
        except (ValueError, OverflowError):
            return math.nan

    return lambda a: np.vectorize(one, otypes=[np.float64])(a.astype(np.float64)).astype(a.dtype)


def sigmoid(a):
    return (1 / (1 + np.exp(-a))).astype(a.dtype)


# name, NumPy's function, dtypes, lowest and highest argument
UNARY = [
    ("abs", np.abs, REAL, None, None),
    ("negative", np.negative, FLOATS + SIGNED + COMPLEX, None, None),
    ("sign", np.sign, FLOATS + SIGNED, None, None),
    ("square", np.square, NUMERIC, 0, 3),
    ("sqrt", np.sqrt, FLOATS, 0, 9),
    ("math.rsqrt", lambda a: (1 / np.sqrt(a)).astype(a.dtype), FLOATS, 0.1, 9),
    ("math.reciprocal", np.reciprocal, FLOATS, 0.5, 2),
    ("exp", np.exp, INEXACT, None, None),
    ("math.expm1", np.expm1, FLOATS, None, None),
    ("math.log", np.log, FLOATS, 0.1, 9),
    ("math.log1p", np.log1p, FLOATS, -0.9, 9),
    ("sin", np.sin, INEXACT, None, None),
    ("cos", np.cos, INEXACT, None, None),
    ("tan", np.tan, FLOATS, -1.4, 1.4),
    ("asin", np.arcsin, FLOATS, -1, 1),
    ("acos", np.arccos, FLOATS, -1, 1),
    ("atan", np.arctan, FLOATS, None, None),
    ("sinh", np.sinh, INEXACT, None, None),
    ("cosh", np.cosh, INEXACT, None, None),
    ("tanh", np.tanh, INEXACT, None, None),
    ("asinh", np.arcsinh, FLOATS, None, None),
    ("acosh", np.arccosh, FLOATS, 1, 9),
    ("atanh", np.arctanh, FLOATS, -0.9, 0.9),
    ("floor", np.floor, FLOATS, None, None),
    ("math.ceil", np.ceil, FLOATS, None, None),
    ("round", np.round, FLOATS, None, None),
    ("math.rint", np.rint, FLOATS, None, None),
    ("sigmoid", sigmoid, FLOATS, None, None),
    ("math.erf", scalar(math.erf), FLOATS, None, None),
    ("math.erfc", scalar(math.erfc), FLOATS, None, None),
    ("math.lgamma", scalar(math.lgamma), ("float32", "float64"), 0.5, 5),
    ("math.is_nan", np.isnan, FLOATS, None, None),
    ("math.is_inf", np.isinf, FLOATS, None, None),
    ("math.is_finite", np.isfinite, FLOATS, None, None),
    ("logical_not", np.logical_not, ("bool",), None, None),
    ("bitwise.invert", np.invert, INTEGERS, None, None),
    ("math.real", np.real, COMPLEX, None, None),
    ("math.imag", np.imag, COMPLEX, None, None),
    ("math.conj", np.conj, COMPLEX, None, None),
    ("math.angle", np.angle, COMPLEX, None, None),
    ("nn.relu", lambda a: np.maximum(a, 0).astype(a.dtype), REAL, None, None),
    ("nn.relu6", lambda a: np.clip(a, 0, 6).astype(a.dtype), FLOATS, -9, 9),
    ("nn.softplus", lambda a: np.logaddexp(a, 0).astype(a.dtype), FLOATS, None, None),
    ("nn.softsign", lambda a: (a / (1 + np.abs(a))).astype(a.dtype), FLOATS, None, None),
    ("nn.elu", lambda a: np.where(a > 0, a, np.expm1(a)).astype(a.dtype), FLOATS, None, None),
]

# name, NumPy's function, dtypes, lowest and highest argument
BINARY = [
    ("add", np.add, NUMERIC, None, None),
    ("subtract", np.subtract, NUMERIC, None, None),
    ("multiply", np.multiply, NUMERIC, None, None),
    ("maximum", np.maximum, REAL, None, None),
    ("minimum", np.minimum, REAL, None, None),
    ("truediv", np.true_divide, INEXACT, 0.5, 3),
    ("math.floordiv", np.floor_divide, REAL, 1, 9),
    ("math.floormod", np.mod, REAL, 1, 9),
    ("pow", np.power, FLOATS + SIGNED, 0, 3),
    ("atan2", np.arctan2, FLOATS, None, None),
    ("math.squared_difference", lambda a, b: np.square(a - b), FLOATS + SIGNED, None, None),
    ("equal", np.equal, PLAIN, None, None),
    ("not_equal", np.not_equal, PLAIN, None, None),
    ("less", np.less, REAL, None, None),
    ("less_equal", np.less_equal, REAL, None, None),
    ("greater", np.greater, REAL, None, None),
    ("greater_equal", np.greater_equal, REAL, None, None),
    ("logical_and", np.logical_and, ("bool",), None, None),
    ("logical_or", np.logical_or, ("bool",), None, None),
    ("math.logical_xor", np.logical_xor, ("bool",), None, None),
    ("bitwise.bitwise_and", np.bitwise_and, INTEGERS, None, None),
    ("bitwise.bitwise_or", np.bitwise_or, INTEGERS, None, None),
    ("bitwise.bitwise_xor", np.bitwise_xor, INTEGERS, None, None),
    ("bitwise.left_shift", np.left_shift, INTEGERS, 0, 3),
    ("bitwise.right_shift", np.right_shift, INTEGERS, 0, 3),
    ("math.xlogy", lambda a, b: (a * np.log(b)).astype(a.dtype), FLOATS, 0.5, 3),
    ("math.divide_no_nan", np.true_divide, FLOATS, 0.5, 3),
    ("math.nextafter", np.nextafter, ("float32", "float64"), None, None),
]


def function(name):
    found = tf
    for part in name.split("."):
        found = getattr(found, part)
    return found


def rows(table):
    return [
        pytest.param(name, numpy, dtype, low, high, id=f"{name}-{dtype}")
        for name, numpy, dtypes, low, high in table
        for dtype in dtypes
    ]


@pytest.mark.parametrize(("name", "numpy", "dtype", "low", "high"), rows(UNARY))
@np.errstate(all="ignore")
def test_unary(name, numpy, dtype, low, high):
    # Half precision is computed in single precision and rounded once.
    rtol = 3e-3 if dtype == "float16" else 1e-5 if dtype in ("float32", "complex64") else 1e-12
    exact = np.dtype(dtype).kind in "iub" or "is_" in name
    for shape in SHAPES:
        a = sample(dtype, shape, 1, low, high)
        assert_close(function(name)(tf.constant(a)), numpy(a), rtol=0 if exact else rtol)


@pytest.mark.parametrize(("name", "numpy", "dtype", "low", "high"), rows(BINARY))
@np.errstate(all="ignore")
def test_binary(name, numpy, dtype, low, high):
    rtol = 3e-3 if dtype == "float16" else 1e-5 if dtype in ("float32", "complex64") else 1e-12
    shapes = [((), ()), ((5,), ()), ((3, 4), (4,)), ((2, 1, 3), (4, 1)), ((0, 3), (3,)),
              ((33,), (33,)), ((2, 3, 4), (2, 3, 4)), ((1,), (7, 1)), ((3, 0), (1,))]  # fmt: skip
    for shape_a, shape_b in shapes:
        a, b = sample(dtype, shape_a, 1, low, high), sample(dtype, shape_b, 2, low, high)
        expected = numpy(a, b)
        exact = expected.dtype.kind in "iub"
        ours = function(name)(tf.constant(a), tf.constant(b))
        assert_close(ours, expected, rtol=0 if exact else rtol)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_broadcasting_is_numpys(data):
    from hypothesis.extra import numpy as npst

    both = data.draw(npst.mutually_broadcastable_shapes(num_shapes=2, max_dims=5, max_side=4))
    a, b = (np.arange(int(np.prod(s)), dtype=np.int32).reshape(s) for s in both.input_shapes)
    assert_close(tf.constant(a) + tf.constant(b), a + b)
    assert_close(
        tf.where(tf.constant(a) > 3, tf.constant(a), tf.constant(b)), np.where(a > 3, a, b)
    )


@given(st.lists(st.integers(0, 4), max_size=4), st.lists(st.integers(0, 4), max_size=4))
@settings(max_examples=150, deadline=None)
def test_what_does_not_broadcast_is_an_error(shape_a, shape_b):
    a, b = tf.zeros(shape_a), tf.zeros(shape_b)
    try:
        expected = np.broadcast_shapes(tuple(shape_a), tuple(shape_b))
    except ValueError:
        with pytest.raises(tf.errors.InvalidArgumentError, match="ncompatible shapes"):
            tf.add(a, b)
    else:
        assert tf.add(a, b).shape == expected


SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 3e38, -3e38, 1.0], np.float32)


@pytest.mark.parametrize(
    "name", ["exp", "sqrt", "tanh", "abs", "floor", "sin", "round", "math.log", "math.log1p",
             "sigmoid", "math.erf", "nn.relu", "sign"]
)  # fmt: skip
@np.errstate(all="ignore")
def test_nan_and_infinity(name):
    numpy = {row[0]: row[1] for row in UNARY}[name]
    expected = numpy(SPECIAL)
    if name == "nn.relu":
        expected = np.where(np.isnan(SPECIAL), SPECIAL, expected)
    got = function(name)(tf.constant(SPECIAL)).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-5)


@np.errstate(all="ignore")
def test_nan_in_comparisons_and_extremes():
    x, one = tf.constant(SPECIAL), tf.constant(1.0)
    assert not (x == x).numpy()[0] and (x != x).numpy()[0]
    np.testing.assert_array_equal((x < one).numpy(), SPECIAL < 1)
    np.testing.assert_array_equal(tf.maximum(x, one).numpy(), np.maximum(SPECIAL, np.float32(1)))
    np.testing.assert_array_equal((x / 0.0).numpy(), SPECIAL / np.float32(0))


def test_large_and_odd_sizes():
    for size in (1 << 20, (1 << 20) + 13):
        a = np.arange(size, dtype=np.float32)
        assert_close(tf.constant(a) * 2 + 1, a * np.float32(2) + np.float32(1))
        assert_close(tf.math.tanh(tf.constant(a) * 1e-6), np.tanh(a * np.float32(1e-6)), rtol=1e-5)


@pytest.mark.parametrize("source", PLAIN)
@pytest.mark.parametrize("target", PLAIN)
@np.errstate(all="ignore")
def test_casts(source, target):
    a = sample(source, (3, 5), 3, low=0, high=100 if np.dtype(source).kind != "b" else None)
    expected = np.real(a) if np.dtype(target).kind not in "cb" else a
    assert_close(tf.cast(tf.constant(a), target), expected.astype(target), rtol=0)


def test_casts_beyond_the_range_are_defined():
    nan = tf.constant([np.nan, np.inf, -np.inf, 300.7, -1.5])
    assert tf.cast(nan, tf.uint8).numpy().tolist() == [0, 255, 0, 255, 0]
    assert tf.cast(nan, tf.int32).numpy().tolist() == [0, 2**31 - 1, -(2**31), 300, -1]
    assert tf.cast(tf.constant([300, -1]), tf.uint8).numpy().tolist() == [44, 255]
    assert tf.cast([0.0, np.nan, 0.5], tf.bool).numpy().tolist() == [False, True, True]
    with pytest.raises((tf.errors.UnimplementedError, tf.errors.InvalidArgumentError)):
        tf.cast("a", tf.int32)


def test_cast_takes_any_spelling_of_a_type():
    for spelling in (tf.float64, "float64", np.float64, np.dtype("f8"), "double"):
        assert tf.cast([1], spelling).dtype is tf.float64
    x = tf.constant([1.0])
    assert tf.cast(x, tf.float32).numpy() == [1]
    with pytest.raises(TypeError, match="Cannot convert the argument `type_value`"):
        tf.cast(x, "foo")


def test_saturate_cast():
    assert tf.saturate_cast([300.0, -5.0, np.nan], tf.uint8).numpy().tolist() == [255, 0, 0]
    assert tf.saturate_cast([300, -5], tf.uint8).numpy().tolist() == [255, 0]
    assert tf.saturate_cast(tf.constant([2**40]), tf.int32).numpy() == [2**31 - 1]
    assert tf.saturate_cast(tf.constant([7], tf.uint8), tf.int64).numpy() == [7]
    assert tf.saturate_cast([1e30], tf.float16).numpy() == [65504]


def test_bitcast():
    assert tf.bitcast(1.0, tf.int32).numpy() == 1065353216
    assert tf.bitcast([1.0, 2.0], tf.uint8).shape == (2, 4)
    assert tf.bitcast(tf.bitcast([1.0, 2.0], tf.uint8), tf.float32).numpy().tolist() == [1, 2]


def test_where():
    a, b = sample("float32", (3, 4), 1), sample("float32", (4,), 2)
    assert_close(tf.where(a > 0, a, b), np.where(a > 0, a, b))
    assert tf.where([True, False], 1, 2).numpy().tolist() == [1, 2]
    assert_close(tf.where(a > 0), np.argwhere(a > 0))
    assert_close(tf.where([1, 0, 2]), np.array([[0], [2]]))
    assert tf.where(tf.zeros([0, 2], tf.bool)).shape == (0, 2)
    with pytest.raises(ValueError, match="x and y must both be non-None or both be None"):
        tf.where([True], x=1)


def test_several_at_once():
    xs = [sample("float32", (3, 2), i) for i in range(4)]
    assert_close(tf.add_n(xs), sum(xs))
    assert_close(tf.math.accumulate_n([tf.constant(x) for x in xs]), sum(xs))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.add_n([tf.constant([1]), tf.constant([1, 2])])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.add_n([])
    with pytest.raises(ValueError):
        tf.math.accumulate_n([tf.constant([1]), tf.constant([1, 2])])
    a = sample("float32", (4,))
    assert_close(tf.clip_by_value(a, -1.0, 1.0), np.clip(a, -1, 1))
    assert tf.clip_by_value([1, 2, 3], 2, 1).numpy().tolist() == [2, 2, 2]
    assert_close(tf.math.scalar_mul(2.0, a), a * np.float32(2))
    assert_close(tf.math.polyval([1.0, 2.0, 3.0], a), np.polyval([1, 2, 3], a).astype("f4"), 1e-5)


def test_division_of_integers_gives_floats():
    assert tf.truediv(1, 2).numpy() == 0.5 and tf.divide(1, 2).dtype is tf.float64
    assert tf.truediv(tf.constant(1, tf.int16), tf.constant(2, tf.int16)).dtype is tf.float32
    assert tf.math.divide([1], [2]).numpy() == [0.5] and tf.realdiv(1.0, 2.0).numpy() == 0.5


def test_complex_numbers():
    z = tf.complex([1.0, 2.0], [3.0, -4.0])
    assert z.dtype is tf.complex64 and z.numpy().tolist() == [1 + 3j, 2 - 4j]
    assert_close(tf.abs(z), np.abs(z.numpy()), rtol=1e-6)


@pytest.mark.parametrize("name", ["exp", "sqrt", "math.log", "floor", "sin", "sigmoid"])
def test_functions_of_floats_refuse_integers(name):
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(name)(tf.constant([1]))


def test_errors():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.bitwise.bitwise_and(1.0, 2.0)
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        tf.logical_and(1, 2)
    with pytest.raises(ValueError, match="Attempt to convert a value \\(None\\)"):
        tf.abs(None)
    with pytest.raises(TypeError):
        tf.add(1)
    with pytest.raises(TypeError):
        tf.add(1, 2, 3, 4)
    with pytest.raises(TypeError, match="foo"):
        tf.add(1, foo=2)


def test_functions_made_of_others():
    x = np.array([0.5, 1.0, 2.0])
    assert_close(tf.math.reciprocal_no_nan([0.0, 2.0]), np.float32([0, 0.5]))
    assert_close(tf.math.erfcinv(tf.math.erfc(x)), x, rtol=1e-9)
    assert_close(tf.math.bessel_i0(x), np.i0(x), rtol=1e-7)
    expected = sum(math.lgamma(v) for v in x) - math.lgamma(x.sum())
    assert_close(tf.math.lbeta(x), np.float64(expected))
    assert tf.math.special.bessel_i1(0.0).numpy() == 0
