"""Division, sums of several tensors, polynomials, orders and special functions."""

from __future__ import annotations

from tidemark import _tidemark, dtypes
from tidemark._export import dispatching, export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tidemark import Tensor, call, convert


def _check_same_dtype(x, y):
    """Two operands have one dtype, where those of several are not promoted; a number takes the
    tensor's, unless it is a fraction and the tensor holds integers."""
    if _tidemark.promotes_dtypes():
        return
    first, second = _dtype_beside(x, y), _dtype_beside(y, x)
    if first != second:
        raise TypeError(
            f"`x` and `y` must have the same dtype, got {first!r} != {second!r}. Convert one "
            "with tf.cast, or see tidemark.experimental.set_dtype_promotion."
        )


def _dtype_beside(value, other):
    if hasattr(value, "dtype"):
        return dtypes.as_dtype(value.dtype)
    if not isinstance(value, (int, float, complex)):
        return convert(value).dtype
    beside = dtypes.as_dtype(other.dtype) if hasattr(other, "dtype") else None
    if isinstance(value, int):
        return beside or dtypes.int32
    is_wide = beside is not None and (beside.is_floating or beside.is_complex)
    return beside if is_wide else dtypes.float32


@export("tf.divide", "tf.math.divide")
@dispatching
def divide(x, y, name=None):
    """``x / y`` as Python divides: integers give floats."""
    _check_same_dtype(x, y)
    return x / y if isinstance(x, Tensor) or isinstance(y, Tensor) else convert(x) / y


@export("tf.truediv", "tf.math.truediv")
@dispatching
def truediv(x, y, name=None):
    """``x / y`` as Python divides: integers give floats."""
    _check_same_dtype(x, y)
    return x / y if isinstance(x, Tensor) or isinstance(y, Tensor) else convert(x) / y


@export("tf.math.divide_no_nan")
@dispatching
def divide_no_nan(x, y, name=None):
    """``x / y``, but 0 where y is 0; integers give floats."""
    _check_same_dtype(x, y)
    x = convert(x, convert(y).dtype._enum if _is_plain(x) and not _is_plain(y) else 0)
    y = convert(y, x.dtype._enum if _is_plain(y) else 0)
    if x.dtype != y.dtype:
        raise TypeError(
            f"`x` and `y` must have the same dtype, got {x.dtype.name} != {y.dtype.name}."
        )
    if x.dtype.is_integer:
        wide = dtypes.float32 if x.dtype.size < 4 else dtypes.float64
        x, y = cast(x, wide), cast(y, wide)
    return call("divide_no_nan", (x, y), {})


def _is_plain(value):
    """Whether a value has no dtype of its own."""
    return not hasattr(value, "dtype")


@export("tf.realdiv")
@dispatching
def realdiv(x, y, name=None):
    """``x / y`` of real numbers."""
    return truediv(x, y)


@export("tf.scalar_mul", "tf.math.scalar_mul")
@dispatching
def scalar_mul(scalar, x, name=None):
    """A scalar times a tensor."""
    if isinstance(x, IndexedSlices):
        return IndexedSlices(scalar_mul(scalar, x.values), x.indices, x.dense_shape)
    x = convert_to_tensor(x)
    scalar = convert_to_tensor(scalar, None if isinstance(scalar, Tensor) else x.dtype)
    if scalar.ndim:
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    return scalar * x


@export("tf.math.accumulate_n")
def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of a list of tensors of one shape and type."""
    complaint = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(complaint)
    tensors = [convert_to_tensor(t) for t in inputs]
    expected = tensors[0]
    for t in tensors:
        if t.shape != expected.shape or t.dtype != (tensor_dtype or expected.dtype):
            raise ValueError(complaint)
    return call("add_n", tensors, {})


@export("tf.math.polyval")
def polyval(coeffs, x, name=None):
    """The polynomial with the coefficients, highest first, at ``x`` (Horner's rule)."""
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = convert_to_tensor(x)
    if not coeffs:
        return call("multiply", (x, 0), {})
    total = convert_to_tensor(coeffs[0])
    for coefficient in coeffs[1:]:
        total = coefficient + total * x
    return total


@export("tf.math.is_non_decreasing")
def is_non_decreasing(x, name=None):
    """Whether no element is below the one before it."""
    return _steps(x, "less_equal")


@export("tf.math.is_strictly_increasing")
def is_strictly_increasing(x, name=None):
    """Whether every element is above the one before it."""
    return _steps(x, "less")


def _steps(x, compare):
    flat = call("reshape", (x, (-1,)), {})
    count = flat._shape_tuple()[0]
    if count < 2:
        return convert(True)
    return call("all", (call(compare, (flat[:-1], flat[1:]), {}),), {})


@export("tf.math.reciprocal_no_nan")
@dispatching
def reciprocal_no_nan(x, name=None):
    """1 / x, and 0 where x is 0."""
    x = convert_to_tensor(x)
    return call("divide_no_nan", (convert(1, x._dtype_enum), x), {})


@export("tf.math.bessel_i0", "tf.math.special.bessel_i0")
@dispatching
def bessel_i0(x, name=None):
    """The modified Bessel function of order 0."""
    x = convert_to_tensor(x)
    return call("exp", (call("abs", (x,), {}),), {}) * call("bessel_i0e", (x,), {})


@export("tf.math.bessel_i1", "tf.math.special.bessel_i1")
@dispatching
def bessel_i1(x, name=None):
    """The modified Bessel function of order 1."""
    x = convert_to_tensor(x)
    return call("exp", (call("abs", (x,), {}),), {}) * call("bessel_i1e", (x,), {})


@export("tf.math.erfcinv")
@dispatching
def erfcinv(x, name=None):
    """The inverse of erfc."""
    return call("ndtri", (convert_to_tensor(x) * 0.5,), {}) * -0.7071067811865476


@export("tf.math.lbeta")
def lbeta(x, name=None):
    """The logarithm of the magnitude of the beta function along the last axis."""
    x = convert_to_tensor(x)
    logs = call("sum", (call("lgamma", (x,), {}),), {"axis": [-1]})
    return logs - call("lgamma", (call("sum", (x,), {"axis": [-1]}),), {})
