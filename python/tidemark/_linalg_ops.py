"""Diagonals, triangles and products of matrices, made of other ops."""

from __future__ import annotations

from tidemark._creation import convert_to_tensor
from tidemark._creation import range as tf_range
from tidemark._export import export
from tidemark._math_ops import norm
from tidemark._tidemark import call, convert
from tidemark.errors import InvalidArgumentError, UnimplementedError


def _matrix(value, op):
    value = convert_to_tensor(value)
    if value.ndim < 2:
        raise InvalidArgumentError(
            None, None, f"[{op}] takes matrices (rank 2 or more), got shape {value.shape}"
        )
    return value


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
    if a.ndim < 2:
        raise ValueError(f"Argument `a` should be a (batch) matrix with rank >= 2. Received {a}")
    perm = [*range(a.ndim - 2), a.ndim - 1, a.ndim - 2]
    return call("transpose", (a,), {"perm": perm, "conjugate": bool(conjugate)})


@export("tf.linalg.adjoint")
def adjoint(matrix, name=None):
    """The last two axes exchanged, each element replaced by its conjugate."""
    return matrix_transpose(matrix, conjugate=True)


def _distance_from_diagonal(rows, columns):
    """column - row of each element of a matrix."""
    row = call("expand_dims", (tf_range(rows),), {"axis": 1})
    return call("subtract", (tf_range(columns), row), {})


@export("tf.linalg.band_part")
def band_part(input, num_lower, num_upper, name=None):
    """The elements near the diagonal, zeros elsewhere; a negative number keeps a whole triangle."""
    input = _matrix(input, "band_part")
    distance = _distance_from_diagonal(*input._shape_tuple()[-2:])
    lower, upper = int(num_lower), int(num_upper)
    rows, columns = input._shape_tuple()[-2:]
    if lower > rows or upper > columns:
        raise InvalidArgumentError(
            None,
            None,
            f"[band_part] num_lower must be negative or at most {rows}, num_upper negative or at "
            f"most {columns}; got {lower} and {upper}",
        )
    keep = convert(True)
    if lower >= 0:
        keep = call("logical_and", (keep, distance >= -lower), {})
    if upper >= 0:
        keep = call("logical_and", (keep, distance <= upper), {})
    return call("select", (keep, input, convert(0, input._dtype_enum)), {})


def _only_main_diagonal(op, k, num_rows=-1, num_cols=-1):
    if k not in (0, (0, 0)) or num_rows != -1 or num_cols != -1:
        raise UnimplementedError(
            None, None, f"[{op}] works on the main diagonal (k=0) of square matrices, got k={k}"
        )


@export("tf.linalg.diag")
def diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Square matrices with the given diagonals and ``padding_value`` elsewhere."""
    _only_main_diagonal("diag", k, num_rows, num_cols)
    diagonal = convert_to_tensor(diagonal)
    size = diagonal._shape_tuple()[-1]
    on = call("equal", (_distance_from_diagonal(size, size), 0), {})
    padding = convert(padding_value, diagonal._dtype_enum)
    return call("select", (on, call("expand_dims", (diagonal,), {"axis": -1}), padding), {})


@export("tf.linalg.diag_part")
def diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """The diagonals of matrices."""
    _only_main_diagonal("diag_part", k)
    input = _matrix(input, "diag_part")
    *batch, rows, columns = input._shape_tuple()
    size = min(rows, columns)
    flat = call("reshape", (input, (*batch, rows * columns)), {})
    places = call("multiply", (tf_range(size), columns + 1), {})
    return call("gather", (flat, places), {"axis": len(batch)})


@export("tf.linalg.set_diag")
def set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """Matrices with their diagonals replaced."""
    _only_main_diagonal("set_diag", k)
    input, diagonal = _matrix(input, "set_diag"), convert_to_tensor(diagonal)
    rows, columns = input._shape_tuple()[-2:]
    if diagonal._shape_tuple() != (*input._shape_tuple()[:-2], min(rows, columns)):
        raise InvalidArgumentError(
            None,
            None,
            f"[set_diag] a matrix of shape {input.shape} has diagonals of length "
            f"{min(rows, columns)}, got diagonals of shape {diagonal.shape}",
        )
    on = call("equal", (_distance_from_diagonal(rows, columns), 0), {})
    # The diagonal spread along the longer side, so that it broadcasts against the matrix.
    axis = -1 if rows <= columns else -2
    spread = call("expand_dims", (diagonal,), {"axis": axis})
    return call("select", (on, spread, input), {})


@export("tf.linalg.trace")
def trace(x, name=None):
    """The sum of the diagonal."""
    return call("sum", (diag_part(x),), {"axis": [-1]})


@export("tf.linalg.tensor_diag")
def tensor_diag(diagonal, name=None):
    """A tensor of twice the rank with the values where both halves of the index agree."""
    diagonal = convert_to_tensor(diagonal)
    flat = diag(call("reshape", (diagonal, (-1,)), {}))
    shape = diagonal._shape_tuple()
    return call("reshape", (flat, (*shape, *shape)), {}) if shape else diagonal


@export("tf.linalg.tensor_diag_part")
def tensor_diag_part(input, name=None):
    """The values of a tensor where both halves of the index agree."""
    input = convert_to_tensor(input)
    half, odd = divmod(input.ndim, 2)
    shape = input._shape_tuple()
    if odd or not half or shape[:half] != shape[half:]:
        raise InvalidArgumentError(
            None, None, f"[tensor_diag_part] takes shapes such as [2,3,2,3], got {input.shape}"
        )
    size = 1
    for d in shape[:half]:
        size *= d
    values = diag_part(call("reshape", (input, (size, size)), {}))
    return call("reshape", (values, shape[:half]), {})


@export("tf.linalg.cross")
def cross(a, b, name=None):
    """The cross product of vectors of three elements."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    if a.shape != b.shape or not a.ndim or a._shape_tuple()[-1] != 3:
        raise InvalidArgumentError(
            None,
            None,
            f"[cross] takes two tensors of one shape ending in 3, got {a.shape} and {b.shape}",
        )
    next_, last = convert([1, 2, 0]), convert([2, 0, 1])

    def pick(t, order):
        return call("gather", (t, order), {"axis": t.ndim - 1})

    return pick(a, next_) * pick(b, last) - pick(a, last) * pick(b, next_)


@export("tf.linalg.normalize")
def normalize(tensor, ord="euclidean", axis=None, name=None):
    """The tensor divided by its norm, and the norm."""
    tensor = convert_to_tensor(tensor)
    length = norm(tensor, ord, axis, keepdims=True)
    return tensor / length, length
