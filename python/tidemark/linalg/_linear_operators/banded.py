"""Operators given by some diagonals, a reflection or an order."""

from __future__ import annotations

import tidemark as tf
from tidemark._export import export
from tidemark.linalg._linear_operators.base import LinearOperator


@export("tf.linalg.LinearOperatorTridiag")
class LinearOperatorTridiag(LinearOperator):
    """The operator of a matrix with three diagonals."""

    def __init__(
        self,
        diagonals,
        diagonals_format="compact",
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorTridiag",
    ):
        if diagonals_format not in ("matrix", "sequence", "compact"):
            raise ValueError(
                "Argument `diagonals_format` must be one of 'compact', 'sequence' or 'matrix'. "
                f"Received: {diagonals_format}."
            )
        if is_square is False:
            raise ValueError("Only square tridiagonal operators currently supported.")
        self._format = diagonals_format
        if diagonals_format == "sequence":
            self._diagonals = tuple(tf.convert_to_tensor(d) for d in diagonals)
            first = self._diagonals[1]
        else:
            self._diagonals = first = tf.convert_to_tensor(diagonals)
        super().__init__(
            first.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            {"diagonals": diagonals, "diagonals_format": diagonals_format},
        )

    @property
    def diagonals(self):
        """What it was made of."""
        return self._diagonals

    @property
    def diagonals_format(self):
        """How the diagonals are given."""
        return self._format

    def _compact(self):
        """[..., 3, n]: above, on and below the main diagonal."""
        if self._format == "compact":
            return self._diagonals
        if self._format == "sequence":
            return tf.stack(tf.nest.flatten(self._diagonals), -2)
        return tf.linalg.diag_part(self._diagonals, k=(-1, 1), align="LEFT_RIGHT")

    def _shape(self):
        if self._format == "matrix":
            return self._diagonals.shape
        one = self._diagonals[1] if self._format == "sequence" else self._diagonals
        batch = one.shape[:-1] if self._format == "sequence" else one.shape[:-2]
        return batch.concatenate([one.shape[-1]] * 2)

    def _shape_tensor(self):
        shape = tf.shape(self._compact())
        return tf.concat([shape[:-2], shape[-1:], shape[-1:]], 0)

    def _to_dense(self):
        if self._format == "matrix":
            return self._diagonals
        return tf.linalg.diag(self._compact(), k=(-1, 1), align="LEFT_RIGHT")

    def _diag_part(self):
        return self._compact()[..., 1, :]

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        if adjoint:
            return super()._matmul(x, adjoint, adjoint_arg)
        x = tf.linalg.adjoint(x) if adjoint_arg else x
        return tf.linalg.tridiagonal_matmul(self._compact(), x)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        if adjoint:
            return super()._solve(rhs, adjoint, adjoint_arg)
        rhs = tf.linalg.adjoint(rhs) if adjoint_arg else rhs
        return tf.linalg.tridiagonal_solve(self._compact(), rhs)


@export("tf.linalg.LinearOperatorToeplitz")
class LinearOperatorToeplitz(LinearOperator):
    """The operator of a matrix each of whose diagonals is one number."""

    def __init__(
        self,
        col,
        row,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorToeplitz",
    ):
        self._col, self._row = tf.convert_to_tensor(col), tf.convert_to_tensor(row)
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        super().__init__(
            self._row.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            {"col": col, "row": row},
        )

    @property
    def col(self):
        """The first column."""
        return self._col

    @property
    def row(self):
        """The first row."""
        return self._row

    def _shape(self):
        batch = tf.broadcast_static_shape(self._col.shape[:-1], self._row.shape[:-1])
        return batch.concatenate([self._col.shape[-1], self._row.shape[-1]])

    def _shape_tensor(self):
        batch = tf.broadcast_dynamic_shape(tf.shape(self._col)[:-1], tf.shape(self._row)[:-1])
        return tf.concat([batch, [tf.shape(self._col)[-1], tf.shape(self._row)[-1]]], 0)

    def _to_dense(self):
        # The diagonals from the lowest to the highest, each element picking its own.
        batch = tf.broadcast_dynamic_shape(tf.shape(self._col)[:-1], tf.shape(self._row)[:-1])
        n, m = tf.shape(self._col)[-1], tf.shape(self._row)[-1]
        col = tf.broadcast_to(self._col, tf.concat([batch, [n]], 0))
        row = tf.broadcast_to(self._row, tf.concat([batch, [m]], 0))
        line = tf.concat([tf.reverse(col, [-1]), row[..., 1:]], -1)
        at = n - 1 + tf.range(m)[tf.newaxis, :] - tf.range(n)[:, tf.newaxis]
        return tf.gather(line, at, axis=-1)

    def _diag_part(self):
        shape = self.shape_tensor()
        return tf.broadcast_to(self._col[..., :1], shape[:-1])

    def _trace(self):
        return tf.cast(self.domain_dimension_tensor(), self.dtype) * self._col[..., 0]


@export("tf.linalg.LinearOperatorHouseholder")
class LinearOperatorHouseholder(LinearOperator):
    """The reflection along an axis: 1 - 2 v v^H for the axis v of length 1."""

    def __init__(
        self,
        reflection_axis,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorHouseholder",
    ):
        self._axis = tf.convert_to_tensor(reflection_axis)
        if is_self_adjoint is False:
            raise ValueError("A Householder operator is always self adjoint.")
        if is_non_singular is False:
            raise ValueError("A Householder operator is always non-singular.")
        if is_positive_definite:
            raise ValueError("A Householder operator is always non-positive definite.")
        super().__init__(
            self._axis.dtype,
            None,
            True,
            True,
            False,
            True,
            name,
            {"reflection_axis": reflection_axis},
        )

    @property
    def reflection_axis(self):
        """The axis it was made of."""
        return self._axis

    def _shape(self):
        return self._axis.shape.concatenate(self._axis.shape[-1:])

    def _shape_tensor(self):
        shape = tf.shape(self._axis)
        return tf.concat([shape, shape[-1:]], 0)

    def _unit(self):
        return tf.math.l2_normalize(self._axis, -1)[..., tf.newaxis]

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = tf.linalg.adjoint(x) if adjoint_arg else x
        v = self._unit()
        return x - 2 * v * tf.matmul(v, x, adjoint_a=True)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _to_dense(self):
        v = self._unit()
        n = tf.shape(self._axis)[-1]
        return tf.eye(n, dtype=self.dtype) - 2 * tf.matmul(v, v, adjoint_b=True)

    def _determinant(self):
        return -tf.ones(self.batch_shape_tensor(), self.dtype)

    def _log_abs_determinant(self):
        return tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _cond(self):
        return tf.ones(self.batch_shape_tensor(), self.dtype)


@export("tf.linalg.LinearOperatorPermutation")
class LinearOperatorPermutation(LinearOperator):
    """The operator that puts elements into another order: row i is taken from perm[i]."""

    def __init__(
        self,
        perm,
        dtype=tf.float32,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorPermutation",
    ):
        self._perm = tf.convert_to_tensor(perm)
        if not self._perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must be integers. Found: {self._perm.dtype.name}")
        if is_non_singular is False or is_square is False:
            raise ValueError("A Permutation operator is always non-singular and square.")
        super().__init__(
            dtype,
            None,
            True,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            {"perm": perm, "dtype": dtype},
        )

    @property
    def perm(self):
        """The order."""
        return self._perm

    def _shape(self):
        return self._perm.shape.concatenate(self._perm.shape[-1:])

    def _shape_tensor(self):
        shape = tf.shape(self._perm)
        return tf.concat([shape, shape[-1:]], 0)

    def _to_dense(self):
        return tf.one_hot(self._perm, tf.shape(self._perm)[-1], dtype=self.dtype)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, not adjoint, adjoint_arg)

    def _log_abs_determinant(self):
        return tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _cond(self):
        return tf.ones(self.batch_shape_tensor(), self.dtype)
