"""Operators of circular convolution, given by their spectrum."""

from __future__ import annotations

import tidemark as tf
from tidemark._export import export
from tidemark.linalg._linear_operators.base import LinearOperator


class _Circulant(LinearOperator):
    """Multiplies the Fourier transform over the last ``dims`` dimensions by a spectrum."""

    def __init__(
        self,
        dims,
        spectrum,
        input_output_dtype,
        is_non_singular,
        is_self_adjoint,
        is_positive_definite,
        is_square,
        name,
    ):
        self._dims = dims
        spectrum = tf.convert_to_tensor(spectrum)
        if not spectrum.dtype.is_complex:
            # The matrix of a real spectrum is its own adjoint.
            if is_self_adjoint is False:
                raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
            is_self_adjoint = True
            wide = tf.complex128 if spectrum.dtype == tf.float64 else tf.complex64
            spectrum = tf.cast(spectrum, wide)
        if is_square is False:
            raise ValueError("A circulant operator is always square.")
        self._spectrum = spectrum
        super().__init__(
            input_output_dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            {"spectrum": spectrum, "input_output_dtype": input_output_dtype},
        )

    @property
    def spectrum(self):
        """The eigenvalues, by frequency."""
        return self._spectrum

    @property
    def block_depth(self):
        """How many dimensions are transformed."""
        return self._dims

    @property
    def block_shape(self):
        """The sizes of the dimensions that are transformed."""
        return self._spectrum.shape[-self._dims :]

    def _size(self):
        return tf.reduce_prod(tf.shape(self._spectrum)[-self._dims :])

    def _shape(self):
        n = self.block_shape.num_elements() if self.block_shape.is_fully_defined() else None
        return self._spectrum.shape[: -self._dims].concatenate([n, n])

    def _shape_tensor(self):
        batch = tf.shape(self._spectrum)[: -self._dims]
        return tf.concat([batch, [self._size(), self._size()]], 0)

    def _filtered(self, x, factors):
        """x with each column's transform multiplied."""
        kind = self._spectrum.dtype
        columns = tf.linalg.matrix_transpose(tf.cast(x, kind))
        shape = tf.shape(columns)
        blocks = tf.shape(self._spectrum)[-self._dims :]
        columns = tf.reshape(columns, tf.concat([shape[:-1], blocks], 0))
        forward = {1: tf.signal.fft, 2: tf.signal.fft2d, 3: tf.signal.fft3d}[self._dims]
        back = {1: tf.signal.ifft, 2: tf.signal.ifft2d, 3: tf.signal.ifft3d}[self._dims]
        factors = tf.expand_dims(factors, -self._dims - 1)
        y = back(forward(columns) * factors)
        whole = tf.shape(y)
        y = tf.reshape(y, tf.concat([whole[: -self._dims], [self._size()]], 0))
        y = tf.linalg.matrix_transpose(y)
        return tf.cast(y if self.dtype.is_complex else tf.math.real(y), self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = tf.linalg.adjoint(x) if adjoint_arg else x
        return self._filtered(x, tf.math.conj(self._spectrum) if adjoint else self._spectrum)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = tf.linalg.adjoint(rhs) if adjoint_arg else rhs
        return self._filtered(
            rhs, 1 / (tf.math.conj(self._spectrum) if adjoint else self._spectrum)
        )

    def _flat(self):
        batch = tf.shape(self._spectrum)[: -self._dims]
        return tf.reshape(self._spectrum, tf.concat([batch, [self._size()]], 0))

    def _own(self, value):
        """A result in the operator's dtype."""
        return tf.cast(value if self.dtype.is_complex else tf.math.real(value), self.dtype)

    def _diag_part(self):
        mean = self._own(tf.reduce_mean(self._flat(), -1, keepdims=True))
        return tf.broadcast_to(mean, self.shape_tensor()[:-1])

    def _trace(self):
        return self._own(tf.reduce_sum(self._flat(), -1))

    def _determinant(self):
        return self._own(tf.reduce_prod(self._flat(), -1))

    def _log_abs_determinant(self):
        return tf.cast(tf.reduce_sum(tf.math.log(tf.abs(self._flat())), -1), self.dtype)

    def _cond(self):
        size = tf.abs(self._flat())
        return tf.cast(tf.reduce_max(size, -1) / tf.reduce_min(size, -1), self.dtype)

    def convolution_kernel(self, name="convolution_kernel"):
        """What it convolves with: the inverse transform of the spectrum."""
        back = {1: tf.signal.ifft, 2: tf.signal.ifft2d, 3: tf.signal.ifft3d}[self._dims]
        return self._own(back(self._spectrum))


def _define(dims, suffix):
    name = f"LinearOperatorCirculant{suffix}"

    class Circulant(_Circulant):
        def __init__(
            self,
            spectrum,
            input_output_dtype=tf.complex64,
            is_non_singular=None,
            is_self_adjoint=None,
            is_positive_definite=None,
            is_square=True,
            name=name,
        ):
            super().__init__(
                dims,
                spectrum,
                input_output_dtype,
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )

    Circulant.__name__ = Circulant.__qualname__ = name
    Circulant.__doc__ = f"Circular convolution in {dims} dimension{'s' * (dims > 1)}."
    return export(f"tf.linalg.{name}")(Circulant)


LinearOperatorCirculant = _define(1, "")
LinearOperatorCirculant2D = _define(2, "2D")
LinearOperatorCirculant3D = _define(3, "3D")
