"""Math whose Python signature differs from an op's, or that several ops make up."""

from __future__ import annotations

import math as _math

from tidemark import _tidemark, dtypes
from tidemark._creation import cast, convert_to_tensor, get_static_value
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._static import static_array
from tidemark._tidemark import Tensor, call, convert
from tidemark.dtypes import as_dtype

# --- division ------------------------------------------------------------------------------------


@export("tf.divide", "tf.math.divide")
def divide(x, y, name=None):
    """``x / y`` as Python divides: integers give floats."""
    return x / y if isinstance(x, Tensor) or isinstance(y, Tensor) else convert(x) / y


@export("tf.truediv", "tf.math.truediv")
def truediv(x, y, name=None):
    """``x / y`` as Python divides: integers give floats."""
    return x / y if isinstance(x, Tensor) or isinstance(y, Tensor) else convert(x) / y


@export("tf.realdiv")
def realdiv(x, y, name=None):
    """``x / y`` of real numbers."""
    return truediv(x, y)


@export("tf.scalar_mul", "tf.math.scalar_mul")
def scalar_mul(scalar, x, name=None):
    """A scalar times a tensor."""
    x = convert_to_tensor(x)
    scalar = convert_to_tensor(scalar, None if isinstance(scalar, Tensor) else x.dtype)
    if scalar.ndim:
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    return scalar * x


# --- sums of several -----------------------------------------------------------------------------


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


@export("tf.math.count_nonzero")
def count_nonzero(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None):
    """How many elements are not zero; of strings, not empty."""
    input = convert_to_tensor(input)
    zero = convert("" if input.dtype is dtypes.string else 0) if not input.dtype.is_bool else None
    nonzero = input if zero is None else call("not_equal", (input, zero), {})
    attrs = {"axis": axis, "keepdims": bool(keepdims)}
    return cast(call("sum", (cast(nonzero, dtypes.int64),), attrs), dtype)


@export("tf.math.zero_fraction", "tf.nn.zero_fraction")
def zero_fraction(value, name=None):
    """Which part of the elements is zero; NaN of none."""
    value = convert_to_tensor(value)
    zeros = cast(call("equal", (value, 0), {}), dtypes.float32)
    return call("mean", (zeros,), {})


# --- clipping ------------------------------------------------------------------------------------


@export("tf.clip_by_norm")
def clip_by_norm(t, clip_norm, axes=None, name=None):
    """The tensor scaled down so that its L2 norm is at most ``clip_norm``."""
    t = convert_to_tensor(t)
    squares = call("sum", (t * t,), {"axis": axes, "keepdims": True})
    positive = squares > 0
    safe = call("select", (positive, squares, call("add", (squares * 0, 1), {})), {})
    length = call("select", (positive, call("sqrt", (safe,), {}), squares), {})
    return t * clip_norm / call("maximum", (length, clip_norm), {})


@export("tf.linalg.global_norm")
def global_norm(t_list, name=None):
    """The L2 norm of all tensors together; None among them counts nothing."""
    if isinstance(t_list, (str, bytes)) or not hasattr(t_list, "__iter__"):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    halves = []
    for t in t_list:
        if t is not None:
            t = convert_to_tensor(t)
            halves.append(call("sum", (t * t,), {}))
    return call("sqrt", (call("add_n", halves, {}),), {})


@export("tf.clip_by_global_norm")
def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """The tensors scaled down together so that their global norm is at most ``clip_norm``."""
    if isinstance(t_list, (str, bytes)) or not hasattr(t_list, "__iter__"):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    t_list = list(t_list)
    norm = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    # An infinite norm gives NaN everywhere, so that it is noticed.
    scale = clip_norm * call(
        "minimum", (1.0 / norm, 1.0 / convert(clip_norm, norm._dtype_enum)), {}
    )
    scale = scale + (norm - norm)
    return [None if t is None else convert_to_tensor(t) * scale for t in t_list], norm


# --- normalising ---------------------------------------------------------------------------------


@export("tf.math.l2_normalize", "tf.nn.l2_normalize", "tf.linalg.l2_normalize")
def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """The tensor divided by its L2 norm along the axes."""
    x = convert_to_tensor(x)
    square = call("square", (call("abs", (x,), {}) if x.dtype.is_complex else x,), {})
    total = call("sum", (square,), {"axis": dim if axis is None else axis, "keepdims": True})
    scale = call("rsqrt", (call("maximum", (total, epsilon), {}),), {})
    return call("multiply", (x, scale), {})


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


# --- counting ------------------------------------------------------------------------------------


@export("tf.math.bincount")
def bincount(
    arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32, name=None, axis=None,
    binary_output=False,
):  # fmt: skip
    """How often each number comes up, or the sum of its weights; rows apart with ``axis=-1``."""
    arr = convert_to_tensor(arr)
    if arr.dtype not in (dtypes.int32, dtypes.int64):
        arr = cast(arr, dtypes.int32)
    if axis not in (None, 0, -1):
        raise ValueError(f"Argument `axis` must be one of 0 or -1. Received {axis}.")
    if axis == -1 and arr.ndim == 1:
        arr = call("reshape", (arr, (1, -1)), {})
    flat = arr if axis == -1 else call("reshape", (arr, (-1,)), {})
    size = _bins(arr, minlength, maxlength)
    if weights is None:
        weights = call("fill", ((0,), convert(0, as_dtype(dtype)._enum)), {})
    elif axis != -1:
        weights = call("reshape", (weights, (-1,)), {})
    return call("bincount", (flat, size, weights), {"binary_output": bool(binary_output)})


def _bins(arr, minlength, maxlength):
    """How many numbers are counted: up to the largest one there is, between the two limits."""
    least = get_static_value(minlength)
    most = get_static_value(maxlength)
    if least is not None and most is not None and int(least) >= int(most):
        return int(most)
    if (
        _tidemark.is_symbolic(arr)
        or _tidemark.is_symbolic(minlength)
        or (_tidemark.is_symbolic(maxlength))
    ):
        flat = cast(call("reshape", (arr, (-1,)), {}), dtypes.int32)
        none = convert([-1], dtypes.int32._enum)
        size = call("max", (call("concat", ([flat, none],), {"axis": 0}),), {}) + 1
        if minlength is not None:
            size = call("maximum", (size, cast(minlength, dtypes.int32)), {})
        if maxlength is not None:
            size = call("minimum", (size, cast(maxlength, dtypes.int32)), {})
        return size
    size = int(call("max", (arr,), {})) + 1 if arr.shape.num_elements() else 0
    if minlength is not None:
        size = max(size, int(minlength))
    if maxlength is not None:
        size = min(size, int(maxlength))
    return size


@export("tf.math.confusion_matrix")
@sized_when_run
def confusion_matrix(
    labels, predictions, num_classes=None, weights=None, dtype=dtypes.int32, name=None
):
    """How often each label (row) was predicted as each class (column)."""
    labels = cast(convert_to_tensor(labels), dtypes.int64)
    predictions = cast(convert_to_tensor(predictions), dtypes.int64)
    if num_classes is None:
        both = call("concat", (labels, predictions), {"axis": 0})
        num_classes = int(call("max", (both,), {})) + 1
    pairs = call("stack", (labels, predictions), {"axis": 1})
    if weights is None:
        values = call("ones_like", (predictions,), {"dtype": as_dtype(dtype)._enum})
    else:
        values = cast(convert_to_tensor(weights), dtype)
    return call("scatter_nd", (pairs, values, (int(num_classes), int(num_classes))), {})


@export("tf.histogram_fixed_width_bins")
@sized_when_run
def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The bin of each value among ``nbins`` of equal width; those outside go to the ends."""
    values = convert_to_tensor(values)
    bounds = cast(convert_to_tensor(value_range, values.dtype), dtypes.float64)
    low, high = bounds[0], bounds[1]
    wide = cast(values, dtypes.float64)
    places = call("floor", ((wide - low) * (float(nbins) / (high - low)),), {})
    return cast(call("clip_by_value", (places, 0.0, float(nbins - 1)), {}), dtype)


@export("tf.histogram_fixed_width")
def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """How many values are in each of ``nbins`` bins of equal width."""
    bins = histogram_fixed_width_bins(values, value_range, nbins)
    return bincount(bins, minlength=nbins, maxlength=nbins, dtype=dtype)


def _segment_sizes(data, segment_ids, num_segments):
    """How many rows each segment has, shaped to divide the sums by; at least 1."""
    data, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    ones = call("ones_like", (ids,), {"dtype": data._dtype_enum})
    sizes = call("unsorted_segment_sum", (ones, ids, num_segments), {})
    extra = (1,) * (data.ndim - ids.ndim)
    sizes = call("reshape", (sizes, (*sizes._shape_tuple(), *extra)), {})
    return call("maximum", (sizes, 1), {})


@export("tf.math.unsorted_segment_mean")
def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """The mean of the rows of each segment; zeros for one without rows."""
    total = call("unsorted_segment_sum", (data, segment_ids, num_segments), {})
    return total / _segment_sizes(data, segment_ids, num_segments)


@export("tf.math.unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sum of the rows of each segment over the root of their number."""
    total = call("unsorted_segment_sum", (data, segment_ids, num_segments), {})
    return total / call("sqrt", (_segment_sizes(data, segment_ids, num_segments),), {})


# --- more functions ------------------------------------------------------------------------------


@export("tf.math.reciprocal_no_nan")
def reciprocal_no_nan(x, name=None):
    """1 / x, and 0 where x is 0."""
    x = convert_to_tensor(x)
    return call("divide_no_nan", (convert(1, x._dtype_enum), x), {})


@export("tf.math.bessel_i0", "tf.math.special.bessel_i0")
def bessel_i0(x, name=None):
    """The modified Bessel function of order 0."""
    x = convert_to_tensor(x)
    return call("exp", (call("abs", (x,), {}),), {}) * call("bessel_i0e", (x,), {})


@export("tf.math.bessel_i1", "tf.math.special.bessel_i1")
def bessel_i1(x, name=None):
    """The modified Bessel function of order 1."""
    x = convert_to_tensor(x)
    return call("exp", (call("abs", (x,), {}),), {}) * call("bessel_i1e", (x,), {})


@export("tf.math.erfcinv")
def erfcinv(x, name=None):
    """The inverse of erfc."""
    return call("ndtri", (convert_to_tensor(x) * 0.5,), {}) * -0.7071067811865476


@export("tf.math.lbeta")
def lbeta(x, name=None):
    """The logarithm of the magnitude of the beta function along the last axis."""
    x = convert_to_tensor(x)
    logs = call("sum", (call("lgamma", (x,), {}),), {"axis": [-1]})
    return logs - call("lgamma", (call("sum", (x,), {"axis": [-1]}),), {})


# --- products ------------------------------------------------------------------------------------


_matmul = _tidemark.op_function("matmul")


@export("tf.matmul", "tf.linalg.matmul")
def matmul(
    a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False,
    a_is_sparse=False, b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None,
):  # fmt: skip
    """The products of matrices, each transposed first where asked; leading axes broadcast."""
    if transpose_a and adjoint_a:
        raise ValueError("Only one of `transpose_a` and `adjoint_a` can be True.")
    if transpose_b and adjoint_b:
        raise ValueError("Only one of `transpose_b` and `adjoint_b` can be True.")
    if output_type is not None:  # sums may not fit the type of the factors
        a, b = cast(a, output_type), cast(b, output_type)
    return _matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b)


@export("tf.tensordot", "tf.linalg.tensordot")
@sized_when_run
def tensordot(a, b, axes, name=None):
    """The product summed over the axes of ``a`` and of ``b`` that are given as pairs."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    a_axes, b_axes = _contraction_axes(a, b, axes)
    a_free = [i for i in range(a.ndim) if i not in a_axes]
    b_free = [i for i in range(b.ndim) if i not in b_axes]
    left = call("transpose", (a,), {"perm": a_free + a_axes})
    right = call("transpose", (b,), {"perm": b_axes + b_free})
    left = _folded(left, [_extents(a, a_free), _extents(a, a_axes)])
    right = _folded(right, [_extents(b, b_axes), _extents(b, b_free)])
    product = call("matmul", (left, right), {})
    shape = [[size] for size in _extents(a, a_free) + _extents(b, b_free)]
    return _folded(product, shape) if shape else call("reshape", (product, convert((), 3)), {})


def _extents(t, axes):
    """The sizes along the axes: numbers where they are known, else scalars of the graph."""
    sizes = t._shape_tuple()
    return [call("shape", (t,), {})[i] if sizes[i] is None else sizes[i] for i in axes]


def _folded(t, groups):
    """The tensor with an axis a group of sizes."""
    unknown = [any(isinstance(size, Tensor) for size in group) for group in groups]
    if unknown.count(True) == 1 and 0 not in (s for g in groups for s in g if type(s) is int):
        groups = [[-1] if open_ else g for open_, g in zip(unknown, groups, strict=True)]
    sizes = [_product(group) for group in groups]
    has_unknown = any(isinstance(size, Tensor) for size in sizes)
    return call("reshape", (t, convert_to_tensor(sizes) if has_unknown else sizes), {})


def _product(sizes):
    out = 1
    for size in sizes:
        out = size * out
    return out


def _contraction_axes(a, b, axes):
    if isinstance(axes, Tensor):
        axes = static_array(axes, "axes").tolist()
    if isinstance(axes, int):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        if axes > a.ndim or axes > b.ndim:
            raise ValueError(
                f"`axes` must not be larger than the number of dimensions of tensor "
                f"{a if axes > a.ndim else b}. Received {axes}."
            )
        return list(range(a.ndim - axes, a.ndim)), list(range(axes))
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    pairs = []
    for tensor, given in zip((a, b), axes, strict=True):
        given = [given] if isinstance(given, int) else list(given)
        pairs.append([int(i) + tensor.ndim if i < 0 else int(i) for i in given])
    if len(pairs[0]) != len(pairs[1]):
        raise ValueError(
            f"Different number of contraction axes `a` and `b`, {len(pairs[0])} != {len(pairs[1])}."
        )
    return pairs


@export("tf.norm", "tf.linalg.norm")
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    """The norm of vectors, or of matrices when ``axis`` names two axes."""
    is_matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
    if is_matrix:
        if ord not in ("euclidean", "fro", 0.5, 1, 2, _math.inf):
            raise ValueError(
                "'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], "
                f"got {ord}"
            )
        if axis[0] == axis[1]:
            raise ValueError("Invalid axis for `axis`: the two axes must differ")
    elif isinstance(ord, str) and ord != "euclidean" or (not isinstance(ord, str) and ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    elif isinstance(axis, (list, tuple)) and len(axis) != 1:
        raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
    tensor = convert_to_tensor(tensor)
    attrs = {"axis": axis, "keepdims": bool(keepdims)}
    size = call("abs", (tensor,), {})
    if ord in ("euclidean", "fro") or (ord == 2 and not is_matrix):
        return call("sqrt", (call("sum", (call("square", (size,), {}),), attrs),), {})
    if is_matrix:
        return _matrix_norm(tensor if ord == 2 else size, ord, axis, bool(keepdims))
    if ord == _math.inf:
        return call("max", (size,), attrs)
    if ord == 1:
        return call("sum", (size,), attrs)
    total = call("sum", (call("pow", (size, ord), {}),), attrs)
    return call("pow", (total, 1.0 / ord), {})


def _matrix_norm(size, ord, axis, keepdims):
    """The largest sum of a column (1) or of a row (infinity), or the largest singular value (2)."""
    rows, columns = (a + size.ndim if a < 0 else a for a in axis)
    if ord == 2:
        others = [a for a in range(size.ndim) if a not in (rows, columns)]
        last = call("transpose", (size,), {"perm": [*others, rows, columns]})
        largest = call("max", (call("svd", (last,), {"compute_uv": False})[0],), {"axis": [-1]})
        for axis in sorted((rows, columns)) if keepdims else ():
            largest = call("expand_dims", (largest,), {"axis": axis})
        return largest
    summed, largest = (rows, columns) if ord == 1 else (columns, rows)
    sums = call("sum", (size,), {"axis": [summed], "keepdims": True})
    result = call("max", (sums,), {"axis": [largest], "keepdims": True})
    return result if keepdims else call("squeeze", (result,), {"axis": [rows, columns]})
