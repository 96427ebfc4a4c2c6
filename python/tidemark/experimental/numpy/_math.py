"""NumPy's functions of elements, reductions and products, over tensors."""

from __future__ import annotations

import math as _math

import numpy as _np

import tidemark as _tf
from tidemark import dtypes as _dtypes
from tidemark.experimental.numpy._kinds import array_of as _array
from tidemark.experimental.numpy._kinds import axes_from_zero as _axes
from tidemark.experimental.numpy._kinds import floating as _floating
from tidemark.experimental.numpy._kinds import kind_of as _kind
from tidemark.experimental.numpy._kinds import number as _number
from tidemark.experimental.numpy._kinds import together as _together


def _named(name, function):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"What NumPy's ``{name}`` gives, as a tensor."
    return function


# --- of one tensor -------------------------------------------------------------------------------

_OF_FLOATS = {
    "arccos": _tf.acos, "arccosh": _tf.acosh, "arcsin": _tf.asin, "arcsinh": _tf.asinh,
    "arctan": _tf.atan, "arctanh": _tf.atanh, "cos": _tf.cos, "cosh": _tf.cosh, "exp": _tf.exp,
    "expm1": _tf.math.expm1, "log": _tf.math.log, "log1p": _tf.math.log1p, "sin": _tf.sin,
    "sinh": _tf.sinh, "sqrt": _tf.sqrt, "tan": _tf.tan, "tanh": _tf.tanh,
    "exp2": lambda x: _tf.exp(x * _math.log(2.0)),
    "log2": lambda x: _tf.math.log(x) / _math.log(2.0),
    "log10": lambda x: _tf.math.log(x) / _math.log(10.0),
    "cbrt": lambda x: _tf.sign(x) * _tf.pow(_tf.abs(x), 1.0 / 3.0),
    "deg2rad": lambda x: x * (_math.pi / 180.0), "rad2deg": lambda x: x * (180.0 / _math.pi),
    "sinc": lambda x: _tf.where(_tf.equal(x, 0), _tf.ones_like(x),
                                _tf.math.divide_no_nan(_tf.sin(_math.pi * x), _math.pi * x)),
    "fabs": _tf.abs, "fix": lambda x: _tf.where(x < 0, _tf.math.ceil(x), _tf.floor(x)),
    "ceil": _tf.math.ceil, "floor": _tf.floor, "isnan": _tf.math.is_nan,
    "isfinite": _tf.math.is_finite, "isinf": _tf.math.is_inf,
    "isneginf": lambda x: _tf.equal(x, -_math.inf), "isposinf": lambda x: _tf.equal(x, _math.inf),
}  # fmt: skip

# op names: NumPy's, and what each is in our words.
_OF_NUMBERS = {
    "absolute": _tf.abs, "abs": _tf.abs, "conj": _tf.math.conj, "conjugate": _tf.math.conj,
    "negative": _tf.negative, "positive": _tf.identity, "sign": _tf.sign, "square": _tf.square,
    "reciprocal": lambda x: _tf.cast(_floating(1) / _floating(x), x.dtype)
    if x.dtype.is_integer else _tf.math.reciprocal(x),
    "real": lambda x: _tf.math.real(x) if x.dtype.is_complex else x,
    "imag": lambda x: _tf.math.imag(x) if x.dtype.is_complex else _tf.zeros_like(x),
    "signbit": lambda x: x < 0,
}  # fmt: skip


def _unary(name, function, as_kind):
    return _named(name, lambda x: function(as_kind(x)))


for _name, _function in _OF_FLOATS.items():
    globals()[_name] = _unary(_name, _function, _floating)
for _name, _function in _OF_NUMBERS.items():
    globals()[_name] = _unary(_name, _function, _number)
logical_not = _named("logical_not", lambda x: _tf.logical_not(_tf.cast(_array(x), _tf.bool)))
bitwise_not = _named("bitwise_not", lambda x: _tf.bitwise.invert(_array(x)))


def angle(z, deg=False):
    """The angles of complex numbers."""
    found = _tf.math.angle(_floating(z))
    return found * (180.0 / _math.pi) if deg else found


def around(a, decimals=0):
    """Rounded to so many decimals."""
    a = _array(a)
    if a.dtype.is_integer:
        return a
    scale = 10.0**decimals
    return _tf.round(a * scale) / scale


round = around


def clip(a, a_min, a_max):
    """Elements within bounds."""
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    if a_min is not None:
        a = _tf.maximum(*_together(a, a_min))
    return a if a_max is None else _tf.minimum(*_together(a, a_max))


# --- of two tensors ------------------------------------------------------------------------------


def _logaddexp2(x, y):
    two = _math.log(2.0)
    return (_tf.maximum(x, y) * two + _tf.math.log1p(_tf.exp(-_tf.abs(x - y) * two))) / two


def _gcd(x, y):
    x, y = _tf.abs(x), _tf.abs(y)
    shape = _tf.broadcast_dynamic_shape(_tf.shape(x), _tf.shape(y))
    x, y = _tf.broadcast_to(x, shape), _tf.broadcast_to(y, shape)
    for _ in range(93):  # Euclid's steps for 64 bits
        safe = _tf.where(_tf.equal(y, 0), _tf.ones_like(y), y)
        rest = _tf.where(_tf.equal(y, 0), y, x % safe)
        x, y = _tf.where(_tf.equal(y, 0), x, y), rest
    return x


def _lcm(x, y):
    divisor = _gcd(x, y)
    safe = _tf.where(_tf.equal(divisor, 0), _tf.ones_like(divisor), divisor)
    return _tf.abs(x // safe * y)


_BINARY = {
    "add": lambda x, y: _tf.logical_or(x, y) if x.dtype == _tf.bool else x + y,
    "subtract": _tf.subtract,
    "multiply": lambda x, y: _tf.logical_and(x, y) if x.dtype == _tf.bool else x * y,
    "true_divide": lambda x, y: _floating(x) / _floating(y),
    "divide": lambda x, y: _floating(x) / _floating(y),
    "floor_divide": _tf.math.floordiv, "mod": _tf.math.floormod, "remainder": _tf.math.floormod,
    "power": _tf.pow, "maximum": _tf.maximum, "minimum": _tf.minimum,
    "float_power": lambda x, y: _tf.pow(_tf.cast(x, _tf.float64), _tf.cast(y, _tf.float64))
    if not x.dtype.is_complex else _tf.pow(x, y),
    "arctan2": lambda x, y: _tf.atan2(_floating(x), _floating(y)),
    "hypot": lambda x, y: _tf.sqrt(_tf.square(_floating(x)) + _tf.square(_floating(y))),
    "logaddexp": lambda x, y: _tf.maximum(_floating(x), _floating(y))
    + _tf.math.log1p(_tf.exp(-_tf.abs(_floating(x) - _floating(y)))),
    "logaddexp2": lambda x, y: _logaddexp2(_floating(x), _floating(y)),
    "heaviside": lambda x, y: _tf.where(
        _floating(x) < 0, _tf.zeros_like(_floating(y)),
        _tf.where(_floating(x) > 0, _tf.ones_like(_floating(y)), _floating(y))),
    "nextafter": lambda x, y: _tf.math.nextafter(_floating(x), _floating(y)),
    "gcd": _gcd, "lcm": _lcm, "bitwise_and": _tf.bitwise.bitwise_and,
    "bitwise_or": _tf.bitwise.bitwise_or, "bitwise_xor": _tf.bitwise.bitwise_xor,
    "equal": _tf.equal, "not_equal": _tf.not_equal, "greater": _tf.greater,
    "greater_equal": _tf.greater_equal, "less": _tf.less, "less_equal": _tf.less_equal,
}  # fmt: skip
# op names: NumPy's, of the same meaning.
_LOGIC = {"logical_and": _tf.logical_and, "logical_or": _tf.logical_or,
          "logical_xor": _tf.math.logical_xor}  # fmt: skip


def _binary(name, function):
    return _named(name, lambda x1, x2: function(*_together(x1, x2)))


def _logic(name, function):
    return _named(name, lambda x1, x2: function(*(_tf.cast(_array(x), _tf.bool) for x in (x1, x2))))


for _name, _function in _BINARY.items():
    globals()[_name] = _binary(_name, _function)
for _name, _function in _LOGIC.items():
    globals()[_name] = _logic(_name, _function)


def divmod(x1, x2):
    """Quotients and rests."""
    x1, x2 = _together(x1, x2)
    return _tf.math.floordiv(x1, x2), _tf.math.floormod(x1, x2)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where elements are near: |a - b| <= atol + rtol |b|."""
    a, b = (_floating(x) for x in _together(a, b))
    near = _tf.abs(a - b) <= _tf.cast(atol + rtol * _tf.abs(b), _tf.abs(a).dtype)
    near = _tf.where(_tf.math.is_finite(b), near, _tf.equal(a, b))
    if equal_nan:
        near = _tf.logical_or(near, _tf.logical_and(_tf.math.is_nan(a), _tf.math.is_nan(b)))
    return near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are near."""
    return _tf.reduce_all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1, a2):
    """Whether two arrays have one shape and equal elements."""
    a1, a2 = _together(a1, a2)
    if a1.shape.rank != a2.shape.rank or not a1.shape.is_compatible_with(a2.shape):
        return _tf.constant(False)
    return _tf.reduce_all(_tf.equal(a1, a2))


# --- reductions ----------------------------------------------------------------------------------


def _wide(a):
    """Small integers in wide ones, in which they are added up."""
    if not (a.dtype == _dtypes.bool or (a.dtype.is_integer and a.dtype.size < 8)):
        return a
    unsigned = a.dtype.is_unsigned and a.dtype != _dtypes.bool
    return _tf.cast(a, _dtypes.uint64 if unsigned else _dtypes.int64)


def _reduced(a, axis, dtype, keepdims, function, counts=False):
    a = _array(a, dtype)
    if counts and dtype is None:
        a = _wide(a)
    axis = None if axis is None else _axes(axis, a.shape.rank)
    return function(a, axis, keepdims or False)


def sum(a, axis=None, dtype=None, keepdims=None):
    """Sums along axes."""
    return _reduced(a, axis, dtype, keepdims, _tf.reduce_sum, True)


def prod(a, axis=None, dtype=None, keepdims=None):
    """Products along axes."""
    return _reduced(a, axis, dtype, keepdims, _tf.reduce_prod, True)


def mean(a, axis=None, dtype=None, out=None, keepdims=None):
    """Means along axes."""
    if out is not None:
        raise ValueError("Setting out is not supported.")
    return _reduced(_floating(a) if dtype is None else a, axis, dtype, keepdims, _tf.reduce_mean)


def _no_out(out):
    if out is not None:
        raise ValueError("Setting out is not supported.")


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=None):
    """Variances along axes."""
    _no_out(out)
    a = _floating(a if dtype is None else _array(a, dtype))
    axis = None if axis is None else _axes(axis, a.shape.rank)
    found = _tf.math.reduce_variance(a, axis, keepdims or False)
    if ddof:
        count = _tf.size(a) // _tf.maximum(_tf.size(found), 1)
        count = _tf.cast(count, found.dtype)
        found = found * count / (count - ddof)
    return found if dtype is None else _tf.cast(found, _kind(dtype))


def std(a, axis=None, keepdims=None):
    """Standard deviations along axes."""
    return _tf.sqrt(var(a, axis, keepdims=keepdims))


def amax(a, axis=None, out=None, keepdims=None):
    """The largest along axes."""
    _no_out(out)
    return _reduced(a, axis, None, keepdims, _of_truth(_tf.reduce_max, _tf.reduce_any))


def amin(a, axis=None, out=None, keepdims=None):
    """The smallest along axes."""
    _no_out(out)
    return _reduced(a, axis, None, keepdims, _of_truth(_tf.reduce_min, _tf.reduce_all))


def _of_truth(function, of_truth):
    def reduce(a, axis, keepdims):
        return (of_truth if a.dtype == _dtypes.bool else function)(a, axis, keepdims)

    return reduce


max, min = amax, amin


def all(a, axis=None, keepdims=None):
    """Whether all are true, along axes."""
    return _reduced(a, axis, bool, keepdims, _tf.reduce_all)


def any(a, axis=None, keepdims=None):
    """Whether any is true, along axes."""
    return _reduced(a, axis, bool, keepdims, _tf.reduce_any)


def ptp(a, axis=None, keepdims=None):
    """The largest less the smallest."""
    return amax(a, axis, keepdims=keepdims) - amin(a, axis, keepdims=keepdims)


def count_nonzero(a, axis=None):
    """How many are not zero."""
    return _reduced(_tf.not_equal(_number(a), 0), axis, None, False, _tf.reduce_sum, True)


def _without_nan(a, instead):
    a = _array(a)
    if not a.dtype.is_floating:
        return a
    return _tf.where(_tf.math.is_nan(a), _tf.cast(instead, a.dtype), a)


def nansum(a, axis=None, dtype=None, keepdims=False):
    """Sums of what is a number."""
    return sum(_without_nan(a, 0), axis, dtype, keepdims)


def nanprod(a, axis=None, dtype=None, keepdims=False):
    """Products of what is a number."""
    return prod(_without_nan(a, 1), axis, dtype, keepdims)


def nanmean(a, axis=None, dtype=None, keepdims=None):
    """Means of what is a number."""
    a = _array(a)
    if not a.dtype.is_floating:
        return mean(a, axis, dtype, keepdims=keepdims)
    count = sum(_tf.logical_not(_tf.math.is_nan(a)), axis, a.dtype, keepdims)
    found = nansum(a, axis, None, keepdims) / count
    return found if dtype is None else _tf.cast(found, _kind(dtype))


def average(a, axis=None, weights=None, returned=False):
    """Means, each element with its weight."""
    a = _floating(a)
    if weights is None:
        found = mean(a, axis)
        total = _tf.cast(_tf.size(a) // _tf.maximum(_tf.size(found), 1), found.dtype)
    else:
        a, weights = _together(a, _floating(weights))
        if weights.shape.rank != a.shape.rank:
            if axis is None:
                raise ValueError("axis must be given where a and weights differ in shape")
            sizes = [1] * a.shape.rank
            sizes[axis] = -1
            weights = _tf.reshape(weights, sizes)
        weights = _tf.broadcast_to(weights, _tf.shape(a))
        total = sum(weights, axis)
        found = sum(a * weights, axis) / total
    return (found, _tf.broadcast_to(total, _tf.shape(found))) if returned else found


def _running(function):
    def run(a, axis=None, dtype=None):
        a = _array(a, dtype)
        a = _wide(a) if dtype is None else a
        if axis is None:
            a, axis = _tf.reshape(a, [-1]), 0
        return function(a, axis)

    return run


cumsum = _named("cumsum", _running(_tf.cumsum))
cumprod = _named("cumprod", _running(_tf.math.cumprod))


def _place(function):
    def find(a, axis=None):
        a = _array(a)
        if axis is None or a.shape.rank == 0:
            a, axis = _tf.reshape(a, [-1]), 0
        if a.dtype == _dtypes.bool:
            a = _tf.cast(a, _dtypes.int8)
        return function(a, axis)

    return find


argmax = _named("argmax", _place(_tf.argmax))
argmin = _named("argmin", _place(_tf.argmin))


# --- products ------------------------------------------------------------------------------------


def matmul(x1, x2):
    """Matrix products; vectors are rows on the left, columns on the right."""
    x1, x2 = _together(x1, x2)
    if 0 in (x1.shape.rank, x2.shape.rank):
        raise ValueError("matmul takes no scalars; multiply does")
    if x2.shape.rank == 1:
        return _tf.tensordot(x1, x2, axes=[[x1.shape.rank - 1], [0]])
    if x1.shape.rank == 1:
        return _tf.squeeze(_tf.matmul(x1[None, :], x2), axis=-2)
    return _tf.matmul(x1, x2)


def dot(a, b):
    """The sum of products over the last axis of one and the last but one of the other."""
    a, b = _together(a, b)
    if 0 in (a.shape.rank, b.shape.rank):
        return a * b
    return _tf.tensordot(
        a, b, axes=[[a.shape.rank - 1], [b.shape.rank - 2 if b.shape.rank > 1 else 0]]
    )


def inner(a, b):
    """The sum of products over the last axes."""
    a, b = _together(a, b)
    if 0 in (a.shape.rank, b.shape.rank):
        return a * b
    return _tf.tensordot(a, b, axes=[[a.shape.rank - 1], [b.shape.rank - 1]])


def outer(a, b):
    """All products of an element of each."""
    a, b = (_tf.reshape(x, [-1]) for x in _together(a, b))
    return a[:, None] * b[None, :]


def vdot(a, b):
    """The sum of products of all elements, the first conjugated."""
    a, b = (_tf.reshape(x, [-1]) for x in _together(a, b))
    return _tf.reduce_sum((_tf.math.conj(a) if a.dtype.is_complex else a) * b)


def tensordot(a, b, axes=2):
    """Sums of products over chosen axes."""
    return _tf.tensordot(*_together(a, b), axes=axes)


def kron(a, b):
    """All products of an element of each, in blocks."""
    a, b = _together(a, b)
    rank = _np.maximum(a.shape.rank, b.shape.rank)
    a, b = (_tf.reshape(x, [1] * (rank - x.shape.rank) + x.shape.as_list()) for x in (a, b))
    found = _tf.tensordot(a, b, axes=0)
    order = [axis for pair in zip(range(rank), range(rank, 2 * rank), strict=True) for axis in pair]
    sizes = [m * n for m, n in zip(a.shape.as_list(), b.shape.as_list(), strict=True)]
    return _tf.reshape(_tf.transpose(found, order), sizes)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """The sum of a diagonal."""
    from tidemark.experimental.numpy._arrays import diagonal  # it imports this module

    return sum(diagonal(a, offset, axis1, axis2), -1, dtype)


def polyval(p, x):
    """The polynomial with the coefficients, highest first."""
    p, x = _together(p, x)
    found = _tf.zeros_like(x)
    for one in _tf.unstack(p):
        found = found * x + one
    return found
