"""Systems and products of matrices with a few diagonals."""

from __future__ import annotations

from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import must_differ, sizes_of
from tidemark._tidemark import call, convert
from tidemark.errors import InvalidArgumentError
from tidemark.linalg._matrices import diag, diag_part, matrix_transpose

# Where three diagonals lie when element i of each belongs to row i.
_BY_ROWS = "LEFT_RIGHT"


def _whole_row(diagonal, size, *, below):
    """A diagonal beside the main one as a row as long as that, with a 0 where it has nothing."""
    diagonal = convert_to_tensor(diagonal)
    given = sizes_of(diagonal)[-1]
    if given == size:
        return diagonal
    if given != size - 1:
        raise ValueError(
            f"Beside a main diagonal of {size} elements lie {size - 1} or {size}, got {given}"
        )
    one = [*sizes_of(diagonal)[:-1], 1]
    edge = call("fill", (one, convert(0, diagonal._dtype_enum)), {})
    parts = (edge, diagonal) if below else (diagonal, edge)
    return call("concat", parts, {"axis": diagonal.ndim - 1})


def _compact(diagonals, diagonals_format):
    """The diagonals as [..., 3, M]: above, main, below."""
    if diagonals_format == "compact":
        return convert_to_tensor(diagonals)
    if diagonals_format == "sequence":
        if not isinstance(diagonals, (list, tuple)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        above, main, below = diagonals
        main = convert_to_tensor(main)
        size = sizes_of(main)[-1]
        above = _whole_row(above, size, below=False)
        below = _whole_row(below, size, below=True)
        return call("stack", (above, main, below), {"axis": main.ndim - 1})
    if diagonals_format == "matrix":
        matrix = convert_to_tensor(diagonals)
        if matrix.ndim < 2 or sizes_of(matrix)[-1] != sizes_of(matrix)[-2]:
            raise ValueError(
                f"Expected last two dimensions of diagonals to be same, got {matrix.shape}"
            )
        if sizes_of(matrix)[-1] == 1:
            edges = [[0, 0]] * (matrix.ndim - 2) + [[1, 1], [0, 0]]
            return call("pad", (matrix, convert(edges), convert(0, matrix._dtype_enum)), {})
        return diag_part(matrix, k=(-1, 1), align=_BY_ROWS)
    raise ValueError(
        f"Unrecognized diagonals_format: {diagonals_format}; allowed are 'compact', 'sequence' and "
        "'matrix'"
    )


@export("tf.linalg.tridiagonal_solve")
@sized_when_run
def tridiagonal_solve(
    diagonals, rhs, diagonals_format="compact", transpose_rhs=False, conjugate_rhs=False, name=None,
    partial_pivoting=True, perturb_singular=False,
):  # fmt: skip
    """Solves systems whose matrices have three diagonals."""
    if perturb_singular:
        raise ValueError("perturb_singular is not supported on CPUs; leave it False")
    compact, rhs = _compact(diagonals, diagonals_format), convert_to_tensor(rhs)
    is_vector = rhs.ndim == compact.ndim - 1
    if is_vector:
        rhs = call("expand_dims", (rhs,), {"axis": -1})
        if conjugate_rhs:
            rhs = call("conj", (rhs,), {})
    elif transpose_rhs:
        rhs = matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = call("conj", (rhs,), {})
    x = call("tridiagonal_solve", (compact, rhs), {"partial_pivoting": bool(partial_pivoting)})
    if is_vector:
        return call("squeeze", (x,), {"axis": [-1]})
    return x


@export("tf.linalg.tridiagonal_matmul")
@sized_when_run
def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """Products of matrices that have three diagonals with full ones."""
    compact, rhs = _compact(diagonals, diagonals_format), convert_to_tensor(rhs)
    shape, given = compact._shape_tuple(), rhs._shape_tuple()
    if (
        compact.ndim < 2
        or rhs.ndim < 2
        or must_differ(shape[-2], 3)
        or must_differ(given[-2], shape[-1])
    ):
        raise InvalidArgumentError(
            None,
            None,
            "[tridiagonal_matmul] takes diagonals [..., 3, M] and a matrix [..., M, K], got "
            f"{compact.shape} and {rhs.shape}",
        )

    def column(row):
        return call("expand_dims", (compact[..., row, :],), {"axis": -1})

    nothing = call("zeros_like", (rhs[..., :1, :],), {})
    axis = {"axis": rhs.ndim - 2}
    following = call("concat", (rhs[..., 1:, :], nothing), axis)
    preceding = call("concat", (nothing, rhs[..., :-1, :]), axis)
    if shape[-1] == 0:
        return rhs
    return column(0) * following + column(1) * rhs + column(2) * preceding


@export("tf.linalg.banded_triangular_solve")
@sized_when_run
def banded_triangular_solve(bands, rhs, lower=True, adjoint=False, name=None):
    """Solves systems whose matrices are triangular and have a few diagonals."""
    bands = convert_to_tensor(bands)
    if bands.ndim < 2:
        raise InvalidArgumentError(
            None, None, f"[banded_triangular_solve] bands must be [..., K, M], got {bands.shape}"
        )
    count, size = sizes_of(bands)[-2:]
    if not 1 <= count <= max(size, 1):
        raise InvalidArgumentError(
            None,
            None,
            f"[banded_triangular_solve] there must be from 1 to {size} bands of matrices with "
            f"{size} rows, got {count}",
        )
    k = (1 - count, 0) if lower else (0, count - 1)
    if count == 1:
        matrix = diag(call("squeeze", (bands,), {"axis": [-2]}))
    else:
        matrix = diag(bands, k=k, align=_BY_ROWS)
    attrs = {"lower": bool(lower), "adjoint": bool(adjoint)}
    return call("triangular_solve", (matrix, rhs), attrs)
