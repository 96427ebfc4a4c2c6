"""Operators given by a matrix, a triangle, a diagonal or a number."""

from __future__ import annotations

import tidemark as tf
from tidemark import _tidemark
from tidemark._export import export
from tidemark.linalg._linear_operators.base import LinearOperator, common_batch, with_batch


def _hints(**given):
    return given


@export("tf.linalg.LinearOperatorFullMatrix")
class LinearOperatorFullMatrix(LinearOperator):
    """The operator of a matrix."""

    def __init__(
        self,
        matrix,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorFullMatrix",
    ):
        self._matrix = tf.convert_to_tensor(matrix)
        if self._matrix.shape.rank is not None and self._matrix.shape.rank < 2:
            raise ValueError(
                "Argument `matrix` must have at least 2 dimensions. Received: "
                f"{self._matrix.shape}."
            )
        super().__init__(
            self._matrix.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            {"matrix": matrix},
        )

    @property
    def matrix(self):
        """The matrix it was made of."""
        return self._matrix

    def _shape(self):
        return self._matrix.shape

    def _shape_tensor(self):
        return tf.shape(self._matrix)

    def _to_dense(self):
        return self._matrix

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        if not (self.is_positive_definite and self.is_self_adjoint):
            return super()._solve(rhs, adjoint, adjoint_arg)
        rhs = tf.linalg.adjoint(rhs) if adjoint_arg else rhs
        batch = common_batch(self._matrix, rhs)
        factor = tf.linalg.cholesky(with_batch(self._matrix, batch))
        return tf.linalg.cholesky_solve(factor, with_batch(rhs, batch))


@export("tf.linalg.LinearOperatorLowerTriangular")
class LinearOperatorLowerTriangular(LinearOperator):
    """The operator of the lower triangle of a matrix."""

    def __init__(
        self,
        tril,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowerTriangular",
    ):
        if is_square is False:
            raise ValueError(f"Only square lower triangular operators supported: {is_square}.")
        self._tril = tf.convert_to_tensor(tril)
        super().__init__(
            self._tril.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            {"tril": tril},
        )

    @property
    def tril(self):
        """The matrix whose lower triangle counts."""
        return self._tril

    def _shape(self):
        return self._tril.shape

    def _shape_tensor(self):
        return tf.shape(self._tril)

    def _to_dense(self):
        return tf.linalg.band_part(self._tril, -1, 0)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = tf.linalg.adjoint(rhs) if adjoint_arg else rhs
        return tf.linalg.triangular_solve(self.to_dense(), rhs, lower=True, adjoint=adjoint)

    def _diag_part(self):
        return tf.linalg.diag_part(self._tril)

    def _determinant(self):
        return tf.reduce_prod(self._diag_part(), -1)

    def _log_abs_determinant(self):
        return tf.reduce_sum(tf.math.log(tf.abs(self._diag_part())), -1)


class _Diagonal(LinearOperator):
    """What is known by a diagonal: ``_diagonal()``, which broadcasts to the whole one."""

    def _diagonal(self):
        raise NotImplementedError

    def _factors(self, adjoint):
        d = self._diagonal()
        return tf.math.conj(d) if adjoint and self.dtype.is_complex else d

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = tf.linalg.adjoint(x) if adjoint_arg else x
        return self._factors(adjoint)[..., tf.newaxis] * x

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = tf.linalg.adjoint(rhs) if adjoint_arg else rhs
        return rhs / self._factors(adjoint)[..., tf.newaxis]

    def _diag_part(self):
        shape = self.shape_tensor()[:-1]
        return tf.broadcast_to(self._diagonal(), shape)

    def _to_dense(self):
        return tf.linalg.diag(self._diag_part())

    def _determinant(self):
        return tf.reduce_prod(self._diag_part(), -1)

    def _log_abs_determinant(self):
        return tf.reduce_sum(tf.math.log(tf.abs(self._diag_part())), -1)

    def _eigvals(self):
        return self._diag_part()

    def _cond(self):
        size = tf.abs(self._diag_part())
        return tf.reduce_max(size, -1) / tf.reduce_min(size, -1)

    def add_to_tensor(self, x, name="add_to_tensor"):
        """Its matrix plus x."""
        x = tf.convert_to_tensor(x, dtype=self.dtype)
        batch = tf.broadcast_dynamic_shape(tf.shape(x)[:-2], self.batch_shape_tensor())
        x = with_batch(x, batch)
        return tf.linalg.set_diag(x, tf.linalg.diag_part(x) + self._diag_part())

    def _diagonal_of(self, d, other=None):
        both = [self] if other is None else [self, other]
        true = {
            hint: all(getattr(o, hint) for o in both) or None
            for hint in ("is_non_singular", "is_self_adjoint", "is_positive_definite")
        }
        return LinearOperatorDiag(d, **true, is_square=True)

    def _adjoint(self):
        return self._diagonal_of(self._factors(True))

    def _inverse(self):
        return self._diagonal_of(1 / self._diag_part())

    def _cholesky(self):
        return self._diagonal_of(tf.sqrt(self._diag_part()))

    def _times(self, other):
        if isinstance(other, _Diagonal):
            return self._diagonal_of(self._diag_part() * other._diag_part(), other)
        return super()._times(other)


@export("tf.linalg.LinearOperatorDiag")
class LinearOperatorDiag(_Diagonal):
    """The operator of a diagonal matrix."""

    def __init__(
        self,
        diag,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorDiag",
    ):
        self._diag = tf.convert_to_tensor(diag)
        if self._diag.shape.rank == 0:
            raise ValueError("Argument `diag` must have at least 1 dimension. Received: a scalar.")
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        super().__init__(
            self._diag.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            {"diag": diag},
        )

    @property
    def diag(self):
        """The diagonal."""
        return self._diag

    def _diagonal(self):
        return self._diag

    def _shape(self):
        return self._diag.shape.concatenate(self._diag.shape[-1:])

    def _shape_tensor(self):
        shape = tf.shape(self._diag)
        return tf.concat([shape, shape[-1:]], 0)


class _OfRows(_Diagonal):
    """An operator given by how many rows it has."""

    def _set_rows(self, num_rows, batch_shape):
        self._rows = tf.convert_to_tensor(num_rows, dtype=tf.int32)
        if self._rows.shape.rank not in (0, None):
            raise ValueError(f"Argument `num_rows` must be a 0-D Tensor. Found: {num_rows}")
        self._batch = tf.convert_to_tensor(
            [] if batch_shape is None else batch_shape, dtype=tf.int32
        )

    def _shape_tensor(self):
        return tf.concat([self._batch, [self._rows, self._columns()]], 0)

    def _columns(self):
        return self._rows

    def _shape(self):
        parts = [_tidemark.static_value(t) for t in (self._batch, self._rows, self._columns())]
        batch = parts[0].numpy().tolist() if parts[0] is not None else None
        sizes = [None if p is None else int(p.numpy()) for p in parts[1:]]
        return tf.TensorShape(None if batch is None else [*batch, *sizes])


@export("tf.linalg.LinearOperatorIdentity")
class LinearOperatorIdentity(_OfRows):
    """The operator that changes nothing."""

    def __init__(
        self,
        num_rows,
        batch_shape=None,
        dtype=None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorIdentity",
    ):
        for hint, given in _hints(
            is_self_adjoint=is_self_adjoint,
            is_square=is_square,
            is_non_singular=is_non_singular,
            is_positive_definite=is_positive_definite,
        ).items():
            if not given:
                raise ValueError(f"An identity operator is always {hint[3:].replace('_', ' ')}.")
        self._set_rows(num_rows, batch_shape)
        super().__init__(
            dtype or tf.float32,
            None,
            True,
            True,
            True,
            True,
            name,
            {"num_rows": num_rows, "batch_shape": batch_shape},
        )

    def _diagonal(self):
        return tf.ones(tf.concat([self._batch, [self._rows]], 0), self.dtype)

    def _inverse(self):
        return self

    def _cholesky(self):
        return self

    def _times(self, other):
        return other if self._batch.shape[0] == 0 else super()._times(other)


@export("tf.linalg.LinearOperatorScaledIdentity")
class LinearOperatorScaledIdentity(_OfRows):
    """The operator that multiplies by a number."""

    def __init__(
        self,
        num_rows,
        multiplier,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorScaledIdentity",
    ):
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        self._multiplier = tf.convert_to_tensor(multiplier)
        self._set_rows(num_rows, tf.shape(self._multiplier))
        if not self._multiplier.dtype.is_complex:
            is_self_adjoint = True
        super().__init__(
            self._multiplier.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            {"num_rows": num_rows, "multiplier": multiplier},
        )

    @property
    def multiplier(self):
        """The number."""
        return self._multiplier

    def _diagonal(self):
        return self._multiplier[..., tf.newaxis]

    def _inverse(self):
        return LinearOperatorScaledIdentity(
            self._rows,
            1 / self._multiplier,
            is_non_singular=self.is_non_singular,
            is_positive_definite=self.is_positive_definite,
        )


@export("tf.linalg.LinearOperatorZeros")
class LinearOperatorZeros(_OfRows):
    """The operator of zeros."""

    def __init__(
        self,
        num_rows,
        num_columns=None,
        batch_shape=None,
        dtype=None,
        is_non_singular=False,
        is_self_adjoint=True,
        is_positive_definite=False,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorZeros",
    ):
        self._set_rows(num_rows, batch_shape)
        self._given_columns = (
            None if num_columns is None else tf.convert_to_tensor(num_columns, dtype=tf.int32)
        )
        if is_non_singular or is_positive_definite:
            raise ValueError("A zero operator is always singular and never positive definite.")
        super().__init__(
            dtype or tf.float32,
            None,
            False,
            is_self_adjoint,
            False,
            is_square,
            name,
            {"num_rows": num_rows, "num_columns": num_columns},
        )

    def _columns(self):
        return self._rows if self._given_columns is None else self._given_columns

    def _diagonal(self):
        return tf.zeros([tf.minimum(self._rows, self._columns())], self.dtype)

    def _diag_part(self):
        shape = tf.concat([self._batch, [tf.minimum(self._rows, self._columns())]], 0)
        return tf.zeros(shape, self.dtype)

    def _to_dense(self):
        return tf.zeros(self.shape_tensor(), self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return tf.matmul(self.to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _adjoint(self):
        return LinearOperatorZeros(
            self._columns(),
            self._rows,
            self._batch,
            self.dtype,
            is_self_adjoint=self.is_self_adjoint,
            is_square=self.is_square,
        )

    def _times(self, other):
        return LinearOperator._times(self, other)

    def _log_abs_determinant(self):
        return tf.fill(self._batch, tf.cast(float("-inf"), self.dtype.real_dtype))
