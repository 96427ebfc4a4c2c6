"""What every linear operator offers; by its matrix where its class knows nothing better."""

from __future__ import annotations

import tidemark as tf
from tidemark._export import export
from tidemark._trackable.module import Module


def common_batch(*tensors, inner=2):
    """The batch shape that tensors broadcast to: a list where it is known, else a tensor."""
    known = [t.shape[: t.shape.rank - inner] if t.shape.rank else None for t in tensors]
    if all(shape is not None and shape.is_fully_defined() for shape in known):
        whole = tf.TensorShape([])
        for shape in known:
            whole = tf.broadcast_static_shape(whole, shape)
        return whole.as_list()
    shape = tf.constant([], tf.int32)
    for t in tensors:
        shape = tf.broadcast_dynamic_shape(shape, tf.shape(t)[: tf.rank(t) - inner])
    return shape


def with_batch(tensor, batch):
    """Matrices broadcast to a batch shape."""
    if isinstance(batch, list):
        if tensor.shape[:-2].is_fully_defined() and tensor.shape[:-2].as_list() == batch:
            return tensor
        if tensor.shape.is_fully_defined():
            return tf.broadcast_to(tensor, [*batch, *tensor.shape[-2:]])
        batch = tf.constant(batch, tf.int32)
    return tf.broadcast_to(tensor, tf.concat([batch, tf.shape(tensor)[-2:]], 0))


def solved(matrix, rhs, adjoint):
    """The solutions of matrix @ x = rhs, batches broadcast."""
    batch = common_batch(matrix, rhs)
    return tf.linalg.solve(with_batch(matrix, batch), with_batch(rhs, batch), adjoint=adjoint)


@export("tf.linalg.LinearOperator")
class LinearOperator(Module):
    """A linear map [..., columns] -> [..., rows], given by less than its matrix where it can be.

    Subclasses give ``_shape``, ``_shape_tensor`` and ``_matmul``, or ``_to_dense``.
    """

    def __init__(
        self,
        dtype,
        graph_parents=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
        parameters=None,
    ):
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        super().__init__(name=_module_name(name or type(self).__name__))
        self._dtype = None if dtype is None else tf.as_dtype(dtype)
        self._is_non_singular, self._is_self_adjoint = is_non_singular, is_self_adjoint
        self._is_positive_definite, self._is_square_hint = is_positive_definite, is_square
        self._parameters = dict(parameters or {})

    # --- what is known of it --------------------------------------------------------------------
    @property
    def dtype(self):
        """The dtype of the elements of its matrix."""
        return self._dtype

    @property
    def parameters(self):
        """The arguments it was made of."""
        return dict(self._parameters)

    @property
    def graph_parents(self):
        """Nothing: graphs find what they need themselves."""
        return []

    @property
    def is_non_singular(self):
        """What the maker said of it; None: nothing."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self):
        """What the maker said of it; None: nothing."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self):
        """What the maker said of it; None: nothing."""
        return self._is_positive_definite

    @property
    def is_square(self):
        """Whether it has as many rows as columns, as far as its shape or its maker says."""
        rows, columns = self.range_dimension, self.domain_dimension
        if rows is not None and columns is not None:
            square = rows == columns
            if self._is_square_hint is not None and bool(self._is_square_hint) != square:
                raise ValueError(
                    f"Static shape {self.shape} conflicts with is_square={self._is_square_hint}"
                )
            return square
        return self._is_square_hint

    @property
    def shape(self):
        """Batch, rows and columns."""
        return tf.TensorShape(self._shape())

    @property
    def batch_shape(self):
        """The shape before rows and columns."""
        return self.shape[:-2]

    @property
    def tensor_rank(self):
        """The number of dimensions of its matrices."""
        return self.shape.rank

    @property
    def domain_dimension(self):
        """Columns."""
        return self.shape[-1] if self.shape.rank else None

    @property
    def range_dimension(self):
        """Rows."""
        return self.shape[-2] if self.shape.rank else None

    def shape_tensor(self, name="shape_tensor"):
        """Batch, rows and columns as a tensor."""
        if self.shape.is_fully_defined():
            return tf.constant(self.shape.as_list(), tf.int32)
        return self._shape_tensor()

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """The shape before rows and columns as a tensor."""
        return self.shape_tensor()[:-2]

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        """The number of dimensions of its matrices as a tensor."""
        return tf.size(self.shape_tensor())

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        """Columns as a tensor."""
        return self.shape_tensor()[-1]

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        """Rows as a tensor."""
        return self.shape_tensor()[-2]

    # --- for subclasses -------------------------------------------------------------------------
    def _shape(self):
        raise NotImplementedError("_shape is not implemented.")

    def _shape_tensor(self):
        return tf.shape(self.to_dense())

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return tf.matmul(self.to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = tf.linalg.adjoint(rhs) if adjoint_arg else rhs
        return solved(self.to_dense(), rhs, adjoint)

    def _to_dense(self):
        eye = tf.eye(
            self.domain_dimension_tensor(), batch_shape=self.batch_shape_tensor(), dtype=self.dtype
        )
        return self._matmul(eye)

    def _determinant(self):
        return tf.linalg.det(self.to_dense())

    def _log_abs_determinant(self):
        return tf.linalg.slogdet(self.to_dense())[1]

    def _diag_part(self):
        return tf.linalg.diag_part(self.to_dense())

    def _trace(self):
        return tf.reduce_sum(self.diag_part(), -1)

    def _eigvals(self):
        if self.is_self_adjoint:
            return tf.linalg.eigvalsh(self.to_dense())
        return tf.linalg.eigvals(self.to_dense())

    def _cond(self):
        s = tf.linalg.svd(self.to_dense(), compute_uv=False)
        return tf.reduce_max(s, -1) / tf.reduce_min(s, -1)

    def _adjoint(self):
        return tf.linalg.LinearOperatorAdjoint(self)

    def _inverse(self):
        return tf.linalg.LinearOperatorInversion(self)

    def _cholesky(self):
        return tf.linalg.LinearOperatorLowerTriangular(
            tf.linalg.cholesky(self.to_dense()), is_non_singular=True, is_square=True
        )

    def _times(self, other):
        """This operator after another one."""
        return tf.linalg.LinearOperatorComposition([self, other])

    # --- what it does ---------------------------------------------------------------------------
    def _argument(self, x, at, adjoint, what):
        x = tf.convert_to_tensor(x, dtype=self.dtype)
        wanted = self.range_dimension if adjoint else self.domain_dimension
        given = x.shape[at] if x.shape.rank else None
        if wanted is not None and given is not None and wanted != given:
            raise ValueError(
                f"Dimensions are not compatible: {what} of shape {x.shape} for an operator of "
                f"shape {self.shape}; dimension {at} must be {wanted}"
            )
        return x

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """Its matrix (or the adjoint) times x, a tensor or another operator."""
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = x.adjoint() if adjoint_arg else x
            sizes = left.domain_dimension, right.range_dimension
            if None not in sizes and sizes[0] != sizes[1]:
                raise ValueError(
                    f"Operators are incompatible. Expected `x` to have dimension {sizes[0]} but "
                    f"got {sizes[1]}."
                )
            return left._times(right)
        x = self._argument(x, -1 if adjoint_arg else -2, adjoint, "x")
        return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def __matmul__(self, other):
        return self.matmul(other)

    def matvec(self, x, adjoint=False, name="matvec"):
        """Its matrix times vectors."""
        x = self._argument(x, -1, adjoint, "x")
        return tf.squeeze(self.matmul(x[..., tf.newaxis], adjoint=adjoint), -1)

    def _needs_square(self, what):
        if self.is_square is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to not be square."
            )

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """The x with matrix @ x = rhs, a tensor or another operator."""
        if self.is_non_singular is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected to be singular."
            )
        self._needs_square("Exact solve")
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = rhs.adjoint() if adjoint_arg else rhs
            return left.inverse().matmul(right)
        rhs = self._argument(rhs, -1 if adjoint_arg else -2, not adjoint, "rhs")
        return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """The vectors x with matrix @ x = rhs."""
        rhs = self._argument(rhs, -1, not adjoint, "rhs")
        return tf.squeeze(self.solve(rhs[..., tf.newaxis], adjoint=adjoint), -1)

    def to_dense(self, name="to_dense"):
        """Its matrix."""
        return self._to_dense()

    def add_to_tensor(self, x, name="add_to_tensor"):
        """Its matrix plus x."""
        return self.to_dense() + tf.convert_to_tensor(x, dtype=self.dtype)

    def diag_part(self, name="diag_part"):
        """The diagonal of its matrix."""
        return self._diag_part()

    def trace(self, name="trace"):
        """The sum of the diagonal."""
        return self._trace()

    def determinant(self, name="det"):
        """The determinant of its matrix."""
        self._needs_square("Determinant")
        return self._determinant()

    def log_abs_determinant(self, name="log_abs_det"):
        """The logarithm of the size of the determinant."""
        self._needs_square("Determinant")
        return self._log_abs_determinant()

    def eigvals(self, name="eigvals"):
        """The eigenvalues of its matrix."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def cond(self, name="cond"):
        """The greatest singular value over the least."""
        if not self.is_square:
            raise NotImplementedError("Only square matrices are supported.")
        return self._cond()

    def adjoint(self, name="adjoint"):
        """The operator with the adjoint matrix."""
        return self if self.is_self_adjoint else self._adjoint()

    H = property(adjoint)

    def inverse(self, name="inverse"):
        """The operator that undoes this one."""
        if self.is_square is False:
            raise ValueError(
                "Cannot take the Inverse: This operator represents a non square matrix."
            )
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._inverse()

    def cholesky(self, name="cholesky"):
        """The operator whose product with its adjoint is this one."""
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint "
                "matrix."
            )
        return self._cholesky()

    # --- checks ---------------------------------------------------------------------------------
    def assert_non_singular(self, name="assert_non_singular"):
        """Raises an InvalidArgumentError when it is singular, up to rounding."""
        spread = tf.abs(self.cond())
        return tf.debugging.assert_less(
            spread,
            tf.cast(1 / _epsilon(self.dtype), spread.dtype),
            message="Singular matrix encountered.",
        )

    def assert_positive_definite(self, name="assert_positive_definite"):
        """Raises an InvalidArgumentError when it is not."""
        smallest = tf.reduce_min(tf.linalg.eigvalsh(self.to_dense()))
        return tf.debugging.assert_positive(
            tf.math.real(smallest), message="Operator was not positive definite."
        )

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        """Raises an InvalidArgumentError when it is not."""
        dense = self.to_dense()
        return tf.debugging.assert_equal(
            dense, tf.linalg.adjoint(dense), message="Matrix was not equal to its adjoint."
        )


def _epsilon(dtype):
    return {2: 1e-3, 4: 1.2e-7, 8: 2.3e-16, 16: 2.3e-16}[dtype.real_dtype.size]


def _module_name(name):
    """Modules take names that Python could."""
    return name.replace(".", "_")
