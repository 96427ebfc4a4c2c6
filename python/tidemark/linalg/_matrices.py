"""Diagonals, triangles and products of matrices, made of other ops."""

from __future__ import annotations

import math as _math

from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import larger, must_differ, sizes_of, static_ints
from tidemark._tidemark import call, convert
from tidemark.errors import InvalidArgumentError
from tidemark.math._products import norm


@export("tf.linalg.matvec")
def matvec(
    a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None
):
    """Matrices times vectors."""
    column = call("expand_dims", (b,), {"axis": -1})
    attrs = {"transpose_a": bool(transpose_a), "adjoint_a": bool(adjoint_a)}
    return call("squeeze", (call("matmul", (a, column), attrs),), {"axis": [-1]})


@export("tf.linalg.matrix_transpose")
def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """The last two axes exchanged."""
    a = convert_to_tensor(a)
    if a.shape.rank is None:
        return _exchanged(a, conjugate)
    if a.ndim < 2:
        raise ValueError(f"Argument `a` should be a (batch) matrix with rank >= 2. Received {a}")
    perm = [*range(a.ndim - 2), a.ndim - 1, a.ndim - 2]
    return call("transpose", (a,), {"perm": perm, "conjugate": bool(conjugate)})


def _exchanged(a, conjugate):
    """The last two axes exchanged of a tensor of unknown rank: all before them are one."""
    sizes = call("shape", (a,), {})
    count = call("reshape", (call("prod", (sizes[:-2],), {}), [1]), {})
    folded = call("reshape", (a, call("concat", ([count, sizes[-2:]],), {"axis": 0})), {})
    moved = call("transpose", (folded,), {"perm": [0, 2, 1], "conjugate": bool(conjugate)})
    sizes = call("concat", ([sizes[:-2], sizes[-1:], sizes[-2:-1]],), {"axis": 0})
    return call("reshape", (moved, sizes), {})


@export("tf.linalg.adjoint")
def adjoint(matrix, name=None):
    """The last two axes exchanged, each element replaced by its conjugate."""
    return matrix_transpose(matrix, conjugate=True)


def _band(k):
    """The numbers of the lowest and the highest diagonal."""
    numbers = [k] if isinstance(k, int) else static_ints(k, "k")
    if len(numbers) not in (1, 2):
        raise InvalidArgumentError(
            None, None, f"[diag] k must be a number or a pair of them, got {k}"
        )
    return numbers[0], numbers[-1]


def _padding(value, like):
    return convert(bool(value) if like.dtype.is_bool else value, like._dtype_enum)


def _size_of(number, smallest):
    number = int(number)
    return smallest if number == -1 else number


def _matrix_sizes(length, band, num_rows, num_cols):
    """Rows and columns of the smallest matrix that has the diagonals, or as told."""
    low, high = band
    rows, columns = length - min(high, 0), length + max(low, 0)
    if num_rows == num_cols == -1:
        return larger(rows, columns), larger(rows, columns)
    given = _size_of(num_rows, rows), _size_of(num_cols, columns)
    if given[0] < rows or given[1] < columns or (given[0] != rows and given[1] != columns):
        raise InvalidArgumentError(
            None,
            None,
            f"[diag] diagonals {low} to {high} of length {length} need {rows} rows and {columns} "
            f"columns, or more of one of them; got {given[0]} and {given[1]}",
        )
    return given


@export("tf.linalg.diag")
@sized_when_run
def diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Matrices with the given values on diagonal ``k``, or on those from ``k[0]`` to ``k[1]``."""
    low, high = _band(k)
    if low == high and num_rows == num_cols == -1 and padding_value == 0:
        return call("diag", (diagonal,), {"k": low})
    diagonal = convert_to_tensor(diagonal)
    if diagonal.ndim < (1 if low == high else 2):
        raise InvalidArgumentError(
            None, None, f"[diag] the diagonals of k={k} have too few dimensions: {diagonal.shape}"
        )
    if low == high:
        diagonal = call("expand_dims", (diagonal,), {"axis": -2})
    *batch, _, length = sizes_of(diagonal)
    rows, columns = _matrix_sizes(length, (low, high), num_rows, num_cols)
    padding = _padding(padding_value, diagonal)
    filled = call("fill", ([*batch, rows, columns], padding), {})
    attrs = {"k_low": low, "k_high": high, "align": align}
    return call("set_diags", (filled, diagonal), attrs)


@export("tf.linalg.diag_part")
def diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """Diagonal ``k`` of each matrix, or those from ``k[0]`` to ``k[1]``, the uppermost first."""
    low, high = _band(k)
    if low == high:
        return call("diag_part", (input,), {"k": low})
    input = convert_to_tensor(input)
    padding = _padding(padding_value, input)
    attrs = {"k_low": low, "k_high": high, "align": align}
    return call("diag_parts", (input, padding), attrs)


@export("tf.linalg.set_diag")
def set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """Each matrix with the given values on diagonal ``k``, or from ``k[0]`` to ``k[1]``."""
    low, high = _band(k)
    if low == high:
        return call("set_diag", (input, diagonal), {"k": low})
    attrs = {"k_low": low, "k_high": high, "align": align}
    return call("set_diags", (input, diagonal), attrs)


@export("tf.linalg.trace")
def trace(x, name=None):
    """The sum of the diagonal."""
    return call("sum", (diag_part(x),), {"axis": [-1]})


@export("tf.linalg.tensor_diag")
def tensor_diag(diagonal, name=None):
    """A tensor of twice the rank with the values where both halves of the index agree."""
    diagonal = convert_to_tensor(diagonal)
    flat = diag(call("reshape", (diagonal, (-1,)), {}))
    shape = sizes_of(diagonal)
    return call("reshape", (flat, (*shape, *shape)), {}) if shape else diagonal


@export("tf.linalg.tensor_diag_part")
def tensor_diag_part(input, name=None):
    """The values of a tensor where both halves of the index agree."""
    input = convert_to_tensor(input)
    half, odd = divmod(input.ndim, 2)
    if odd or not half or not input.shape[:half].is_compatible_with(input.shape[half:]):
        raise InvalidArgumentError(
            None, None, f"[tensor_diag_part] takes shapes such as [2,3,2,3], got {input.shape}"
        )
    shape = sizes_of(input)
    size = _math.prod(shape[:half])
    values = diag_part(call("reshape", (input, (size, size)), {}))
    return call("reshape", (values, shape[:half]), {})


@export("tf.linalg.cross")
def cross(a, b, name=None):
    """The cross product of vectors of three elements."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    is_vectors = a.ndim is None or (a.ndim > 0 and not must_differ(a.shape[-1], 3))
    if not a.shape.is_compatible_with(b.shape) or not is_vectors:
        raise InvalidArgumentError(
            None,
            None,
            f"[cross] takes two tensors of one shape ending in 3, got {a.shape} and {b.shape}",
        )
    next_, last = convert([1, 2, 0]), convert([2, 0, 1])

    def pick(t, order):
        return call("gather", (t, order), {"axis": -1})

    return pick(a, next_) * pick(b, last) - pick(a, last) * pick(b, next_)


@export("tf.linalg.normalize")
def normalize(tensor, ord="euclidean", axis=None, name=None):
    """The tensor divided by its norm, and the norm."""
    tensor = convert_to_tensor(tensor)
    length = norm(tensor, ord, axis, keepdims=True)
    return tensor / length, length
