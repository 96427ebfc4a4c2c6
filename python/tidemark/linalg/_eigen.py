"""Orthogonal factors, eigenvalues and eigenvectors: ``tf.linalg.qr``, ``eigh``, ``eig``, …"""

from __future__ import annotations

from typing import NamedTuple

from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import sizes_of
from tidemark._tidemark import Tensor, call
from tidemark.errors import InvalidArgumentError
from tidemark.linalg._matrices import diag


class Qr(NamedTuple):
    """Orthogonal and triangular factor."""

    q: Tensor
    r: Tensor


@export("tf.linalg.qr")
def qr(input, full_matrices=False, name=None):
    """An orthogonal ``q`` and an upper triangular ``r`` whose product is the matrix."""
    return Qr(*call("qr", (input,), {"full_matrices": bool(full_matrices)}))


@export("tf.linalg.eigh")
def eigh(tensor, name=None):
    """Eigenvalues of self-adjoint matrices, from the smallest on, and their eigenvectors."""
    return call("eigh", (tensor,), {})


@export("tf.linalg.eigvalsh")
def eigvalsh(tensor, name=None):
    """Eigenvalues of self-adjoint matrices, from the smallest on."""
    return call("eigh", (tensor,), {"compute_v": False})[0]


@export("tf.linalg.eig", "tf.eig")
def eig(tensor, name=None):
    """Eigenvalues of square matrices, complex, and their eigenvectors."""
    return call("eig", (tensor,), {})


@export("tf.linalg.eigvals", "tf.eigvals")
def eigvals(tensor, name=None):
    """Eigenvalues of square matrices, complex."""
    return call("eig", (tensor,), {"compute_v": False})[0]


def _chosen(values, select, select_range):
    """The positions of the eigenvalues that ``select`` asks for."""
    if select == "a":
        return None
    if select_range is None or len(select_range) != 2 or select_range[0] > select_range[1]:
        raise ValueError(f"select_range must be two numbers in order, got {select_range}")
    low, high = select_range
    if select == "i":
        count = sizes_of(values)[0]
        if low < 0 or high >= count:
            raise ValueError(f"select_range must lie in [0, {count - 1}], got {select_range}")
        return list(range(low, high + 1))
    if select == "v":
        return [i for i, value in enumerate(values.numpy().tolist()) if low < value <= high]
    raise ValueError(f"'select' must be 'a', 'i' or 'v', got {select!r}")


@export("tf.linalg.eigh_tridiagonal")
@sized_when_run
def eigh_tridiagonal(
    alpha, beta, eigvals_only=True, select="a", select_range=None, tol=None, name=None
):
    """Eigenvalues (and vectors) of the self-adjoint matrix with these two diagonals."""
    alpha = convert_to_tensor(alpha)
    beta = convert_to_tensor(beta, dtype=alpha.dtype)
    if alpha.ndim != 1 or beta.ndim != 1 or sizes_of(beta)[0] != sizes_of(alpha)[0] - 1:
        raise InvalidArgumentError(
            None,
            None,
            "[eigh_tridiagonal] alpha must be a vector and beta one with an element less, got "
            f"shapes {alpha.shape} and {beta.shape}",
        )
    matrix = diag(alpha) + diag(beta, k=-1)  # the lower triangle alone is read
    values, vectors = call("eigh", (matrix,), {"compute_v": not eigvals_only})
    chosen = _chosen(values, select, select_range)
    if chosen is not None:
        chosen = convert_to_tensor(chosen, dtype="int32")
        values = call("gather", (values, chosen), {"axis": 0})
        if not eigvals_only:
            vectors = call("gather", (vectors, chosen), {"axis": 1})
    return values if eigvals_only else (values, vectors)
