"""Products and norms: ``tf.matmul``, ``tf.tensordot``, ``tf.norm``, ``tf.clip_by_norm``, …"""

from __future__ import annotations

import math as _math

from tidemark import _tidemark
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.arrays import ensure_shape
from tidemark._tensor.creation import cast, check_one_dtype, convert_to_tensor
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tensor.static import known_rank, static_array
from tidemark._tidemark import Tensor, call, convert


@export("tf.clip_by_norm")
def clip_by_norm(t, clip_norm, axes=None, name=None):
    """The tensor scaled down so that its L2 norm is at most ``clip_norm``."""
    if isinstance(t, IndexedSlices):
        return IndexedSlices(clip_by_norm(t.values, clip_norm, axes), t.indices, t.dense_shape)
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


@export("tf.math.l2_normalize", "tf.nn.l2_normalize", "tf.linalg.l2_normalize")
def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """The tensor divided by its L2 norm along the axes."""
    x = convert_to_tensor(x)
    square = call("square", (call("abs", (x,), {}) if x.dtype.is_complex else x,), {})
    total = call("sum", (square,), {"axis": dim if axis is None else axis, "keepdims": True})
    scale = call("rsqrt", (call("maximum", (total, epsilon), {}),), {})
    return call("multiply", (x, scale), {})


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
    check_one_dtype("MatMul", a, b)
    return _matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b)


@export("tf.tensordot", "tf.linalg.tensordot")
@sized_when_run
def tensordot(a, b, axes, name=None):
    """The product summed over the axes of ``a`` and of ``b`` that are given as pairs."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    known_rank(a), known_rank(b)
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


@export("tf.einsum", "tf.linalg.einsum")
@sized_when_run
def einsum(equation, *inputs, **kwargs):
    """A sum of products in Einstein's notation: ``tf.einsum("bij,bjk->bik", a, b)``."""
    unknown = set(kwargs) - {"name", "optimize"}
    if unknown:
        names = ", ".join(sorted(unknown))
        raise TypeError(f"invalid keyword arguments for this function: {names}")
    optimize = kwargs.get("optimize", "greedy")
    if optimize not in (True, "greedy", "optimal", "branch-2", "branch-all", "auto"):
        raise ValueError(f"optimize must be 'greedy', 'optimal' or 'auto', got {optimize!r}")
    inputs = [convert_to_tensor(x) for x in inputs]
    if any(x.ndim is None for x in inputs):
        inputs = _of_ranks_in(equation, inputs)
    return _tidemark.einsum(equation, inputs)


def _of_ranks_in(equation, inputs):
    """The inputs as tensors of the ranks that the equation gives them."""
    terms = equation.replace(" ", "").split("->")[0].split(",")
    if len(terms) != len(inputs):
        return inputs
    out = []
    for term, x in zip(terms, inputs, strict=True):
        if x.ndim is None and "..." in term:
            known_rank(x)  # raises: only a run tells what the dots stand for
        out.append(ensure_shape(x, [None] * len(term)) if x.ndim is None else x)
    return out
