"""Operators made of others."""

from __future__ import annotations

import functools

import tidemark as tf
from tidemark._export import export
from tidemark.linalg._linear_operators.base import LinearOperator, common_batch, with_batch


def _all(operators, hint):
    """True where it holds for every one of them."""
    return all(getattr(o, hint) for o in operators) or None


def _dtype_of(operators):
    kinds = {o.dtype for o in operators}
    if len(kinds) != 1:
        names = [f"{o.name}: {o.dtype.name}" for o in operators]
        raise TypeError(f"Expected all operators to have the same dtype. Found {', '.join(names)}")
    return kinds.pop()


@export("tf.linalg.LinearOperatorAdjoint")
class LinearOperatorAdjoint(LinearOperator):
    """The adjoint of an operator."""

    def __init__(
        self,
        operator,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        self._operator = operator
        super().__init__(
            operator.dtype,
            None,
            operator.is_non_singular if is_non_singular is None else is_non_singular,
            operator.is_self_adjoint if is_self_adjoint is None else is_self_adjoint,
            operator.is_positive_definite if is_positive_definite is None else is_positive_definite,
            operator.is_square if is_square is None else is_square,
            name or f"{operator.name}_adjoint",
            {"operator": operator},
        )

    @property
    def operator(self):
        """The operator it is the adjoint of."""
        return self._operator

    def _shape(self):
        shape = self._operator.shape
        return shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self):
        shape = self._operator.shape_tensor()
        return tf.concat([shape[:-2], [shape[-1], shape[-2]]], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator._matmul(x, not adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator._solve(rhs, not adjoint, adjoint_arg)

    def _to_dense(self):
        return tf.linalg.adjoint(self._operator.to_dense())

    def _conjugate(self, value):
        return tf.math.conj(value) if value.dtype.is_complex else value

    def _determinant(self):
        return self._conjugate(self._operator._determinant())

    def _log_abs_determinant(self):
        return self._operator._log_abs_determinant()

    def _diag_part(self):
        return self._conjugate(self._operator.diag_part())

    def _adjoint(self):
        return self._operator


@export("tf.linalg.LinearOperatorInversion")
class LinearOperatorInversion(LinearOperator):
    """The inverse of an operator."""

    def __init__(
        self,
        operator,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        if operator.is_square is False or operator.is_non_singular is False:
            raise ValueError("operator and its inverse must be square and non-singular")
        self._operator = operator
        super().__init__(
            operator.dtype,
            None,
            True,
            operator.is_self_adjoint if is_self_adjoint is None else is_self_adjoint,
            operator.is_positive_definite if is_positive_definite is None else is_positive_definite,
            True,
            name or f"{operator.name}_inv",
            {"operator": operator},
        )

    @property
    def operator(self):
        """The operator it undoes."""
        return self._operator

    def _shape(self):
        return self._operator.shape

    def _shape_tensor(self):
        return self._operator.shape_tensor()

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator._solve(x, adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self):
        return 1 / self._operator._determinant()

    def _log_abs_determinant(self):
        return -self._operator._log_abs_determinant()

    def _inverse(self):
        return self._operator


class _Of(LinearOperator):
    """An operator of several."""

    def __init__(
        self,
        operators,
        is_non_singular,
        is_self_adjoint,
        is_positive_definite,
        is_square,
        name,
        glue,
        hints=("is_non_singular",),
    ):
        if not operators:
            raise ValueError("Expected a non-empty list of operators.")
        self._operators = list(operators)
        given = {
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
        }
        for hint in hints:
            if given[hint] is None:
                given[hint] = _all(self._operators, hint)
        super().__init__(
            _dtype_of(self._operators),
            None,
            given["is_non_singular"],
            given["is_self_adjoint"],
            given["is_positive_definite"],
            is_square,
            name or glue.join(o.name for o in self._operators),
            {"operators": operators},
        )

    @property
    def operators(self):
        """The operators it is made of."""
        return self._operators

    def _batch(self):
        shapes = [o.batch_shape_tensor() for o in self._operators]
        return functools.reduce(tf.broadcast_dynamic_shape, shapes)

    def _static_batch(self):
        return functools.reduce(tf.broadcast_static_shape, [o.batch_shape for o in self._operators])


@export("tf.linalg.LinearOperatorComposition")
class LinearOperatorComposition(_Of):
    """Operators one after the other, the last one first."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        super().__init__(
            operators,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            "_o_",
        )
        for left, right in zip(self._operators, self._operators[1:], strict=False):
            sizes = (left.domain_dimension, right.range_dimension)
            if None not in sizes and sizes[0] != sizes[1]:
                raise ValueError(f"Dimensions are not compatible: {left.shape} and {right.shape}")

    def _shape(self):
        ends = [self._operators[0].range_dimension, self._operators[-1].domain_dimension]
        return self._static_batch().concatenate(ends)

    def _shape_tensor(self):
        ends = [
            self._operators[0].range_dimension_tensor(),
            self._operators[-1].domain_dimension_tensor(),
        ]
        return tf.concat([self._batch(), ends], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = tf.linalg.adjoint(x) if adjoint_arg else x
        for o in self._operators if adjoint else reversed(self._operators):
            x = o.matmul(x, adjoint=adjoint)
        return x

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = tf.linalg.adjoint(rhs) if adjoint_arg else rhs
        for o in reversed(self._operators) if adjoint else self._operators:
            rhs = o.solve(rhs, adjoint=adjoint)
        return rhs

    def _determinant(self):
        if not all(o.is_square for o in self._operators):
            return super()._determinant()
        return functools.reduce(tf.multiply, [o.determinant() for o in self._operators])

    def _log_abs_determinant(self):
        if not all(o.is_square for o in self._operators):
            return super()._log_abs_determinant()
        return functools.reduce(tf.add, [o.log_abs_determinant() for o in self._operators])


@export("tf.linalg.LinearOperatorKronecker")
class LinearOperatorKronecker(_Of):
    """The Kronecker product of operators."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        super().__init__(
            operators,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            "_x_",
            ("is_non_singular", "is_self_adjoint", "is_positive_definite"),
        )

    def _shape(self):
        sizes = [1, 1]
        for o in self._operators:
            for i, n in enumerate((o.range_dimension, o.domain_dimension)):
                sizes[i] = None if n is None or sizes[i] is None else sizes[i] * n
        return self._static_batch().concatenate(sizes)

    def _shape_tensor(self):
        rows = functools.reduce(tf.multiply, [o.range_dimension_tensor() for o in self._operators])
        columns = functools.reduce(
            tf.multiply, [o.domain_dimension_tensor() for o in self._operators]
        )
        return tf.concat([self._batch(), [rows, columns]], 0)

    def _to_dense(self):
        return functools.reduce(_kronecker, [o.to_dense() for o in self._operators])

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        inverse = LinearOperatorKronecker([o.inverse() for o in self._operators])
        return inverse._matmul(rhs, adjoint, adjoint_arg)

    def _powers(self, values):
        """Each operator's value, as often as the others have rows."""
        total = tf.cast(self.domain_dimension_tensor(), self.dtype)
        for o, value in zip(self._operators, values, strict=True):
            yield value, total / tf.cast(o.domain_dimension_tensor(), self.dtype)

    def _determinant(self):
        parts = self._powers([o.determinant() for o in self._operators])
        return functools.reduce(tf.multiply, [tf.pow(v, n) for v, n in parts])

    def _log_abs_determinant(self):
        parts = self._powers([o.log_abs_determinant() for o in self._operators])
        return functools.reduce(tf.add, [v * n for v, n in parts])

    def _trace(self):
        return functools.reduce(tf.multiply, [o.trace() for o in self._operators])


def _kronecker(a, b):
    product = a[..., :, tf.newaxis, :, tf.newaxis] * b[..., tf.newaxis, :, tf.newaxis, :]
    shape = tf.shape(product)
    sizes = [shape[-4] * shape[-3], shape[-2] * shape[-1]]
    return tf.reshape(product, tf.concat([shape[:-4], sizes], 0))


def _pieces(x, sizes, axis=-2):
    return tf.split(x, tf.stack(sizes) if not isinstance(sizes, list) else sizes, axis=axis)


@export("tf.linalg.LinearOperatorBlockDiag")
class LinearOperatorBlockDiag(_Of):
    """Operators along a diagonal."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name=None,
    ):
        super().__init__(
            operators,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            "_ds_",
            ("is_non_singular", "is_self_adjoint", "is_positive_definite"),
        )

    def _sizes(self, adjoint=False):
        sizes = [o.range_dimension if adjoint else o.domain_dimension for o in self._operators]
        if None in sizes:
            raise ValueError(
                "the sizes of the operators of a LinearOperatorBlockDiag must be known"
            )
        return sizes

    def _shape(self):
        sizes = [0, 0]
        for o in self._operators:
            for i, n in enumerate((o.range_dimension, o.domain_dimension)):
                sizes[i] = None if n is None or sizes[i] is None else sizes[i] + n
        return self._static_batch().concatenate(sizes)

    def _shape_tensor(self):
        rows = tf.add_n([o.range_dimension_tensor() for o in self._operators])
        columns = tf.add_n([o.domain_dimension_tensor() for o in self._operators])
        return tf.concat([self._batch(), [rows, columns]], 0)

    def _joined(self, parts):
        batch = common_batch(*parts)
        return tf.concat([with_batch(p, batch) for p in parts], -2)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = tf.linalg.adjoint(x) if adjoint_arg else x
        parts = _pieces(x, self._sizes(adjoint))
        pairs = zip(self._operators, parts, strict=True)
        return self._joined([o.matmul(p, adjoint=adjoint) for o, p in pairs])

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = tf.linalg.adjoint(rhs) if adjoint_arg else rhs
        parts = _pieces(rhs, self._sizes(not adjoint))
        pairs = zip(self._operators, parts, strict=True)
        return self._joined([o.solve(p, adjoint=adjoint) for o, p in pairs])

    def _determinant(self):
        return functools.reduce(tf.multiply, [o.determinant() for o in self._operators])

    def _log_abs_determinant(self):
        return functools.reduce(tf.add, [o.log_abs_determinant() for o in self._operators])

    def _trace(self):
        return functools.reduce(tf.add, [o.trace() for o in self._operators])

    def _blocks_of(self, operators):
        return LinearOperatorBlockDiag(operators, is_square=self.is_square)

    def _adjoint(self):
        return self._blocks_of([o.adjoint() for o in self._operators])

    def _inverse(self):
        return self._blocks_of([o.inverse() for o in self._operators])

    def _cholesky(self):
        return self._blocks_of([o.cholesky() for o in self._operators])


@export("tf.linalg.LinearOperatorBlockLowerTriangular")
class LinearOperatorBlockLowerTriangular(_Of):
    """Operators in the lower triangle of a matrix of blocks: row i is a list of i + 1."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorBlockLowerTriangular",
    ):
        self._rows = [list(row) for row in operators]
        for i, row in enumerate(self._rows):
            if len(row) != i + 1:
                raise ValueError(
                    f"row {i} of the blocks must have {i + 1} operators, has {len(row)}"
                )
        diagonal = [row[-1] for row in self._rows]
        if is_non_singular is None:
            is_non_singular = _all(diagonal, "is_non_singular")
        super().__init__(
            [o for row in self._rows for o in row],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            "_",
            (),
        )

    @property
    def operators(self):
        """The rows of operators it is made of."""
        return self._rows

    def _shape(self):
        sizes = [row[-1].range_dimension for row in self._rows]
        n = None if None in sizes else sum(sizes)
        return self._static_batch().concatenate([n, n])

    def _shape_tensor(self):
        n = tf.add_n([row[-1].range_dimension_tensor() for row in self._rows])
        return tf.concat([self._batch(), [n, n]], 0)

    def _to_dense(self):
        batch = self._batch()
        widths = [row[-1].domain_dimension_tensor() for row in self._rows]
        rows = []
        for row in self._rows:
            blocks = [with_batch(o.to_dense(), batch) for o in row]
            tall = tf.shape(blocks[0])[-2]
            for width in widths[len(row) :]:
                blocks.append(tf.zeros(tf.concat([batch, [tall, width]], 0), self.dtype))
            rows.append(tf.concat(blocks, -1))
        return tf.concat(rows, -2)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        if adjoint:
            return super()._solve(rhs, adjoint, adjoint_arg)
        rhs = tf.linalg.adjoint(rhs) if adjoint_arg else rhs
        found = []
        sizes = [row[-1].range_dimension for row in self._rows]
        for row, part in zip(self._rows, _pieces(rhs, sizes), strict=True):
            for o, x in zip(row, found, strict=False):
                part = part - o.matmul(x)
            found.append(row[-1].solve(part))
        batch = common_batch(*found)
        return tf.concat([with_batch(x, batch) for x in found], -2)

    def _determinant(self):
        return functools.reduce(tf.multiply, [row[-1].determinant() for row in self._rows])

    def _log_abs_determinant(self):
        return functools.reduce(tf.add, [row[-1].log_abs_determinant() for row in self._rows])


@export("tf.linalg.LinearOperatorLowRankUpdate")
class LinearOperatorLowRankUpdate(LinearOperator):
    """An operator L and a product of thin matrices: L + U D V^H."""

    def __init__(
        self,
        base_operator,
        u,
        diag_update=None,
        v=None,
        is_diag_update_positive=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowRankUpdate",
    ):
        self._base, self._u = base_operator, tf.convert_to_tensor(u)
        self._v = self._u if v is None else tf.convert_to_tensor(v)
        self._diag = None if diag_update is None else tf.convert_to_tensor(diag_update)
        positive = diag_update is None or is_diag_update_positive
        if v is None and base_operator.is_self_adjoint and is_self_adjoint is None:
            is_self_adjoint = True if diag_update is None or not self._u.dtype.is_complex else None
        if v is None and positive and base_operator.is_positive_definite:
            is_positive_definite = True if is_positive_definite is None else is_positive_definite
        if _dtype_of([base_operator]) != self._u.dtype:
            raise TypeError(
                f"u is {self._u.dtype.name} and the operator "
                f"{base_operator.dtype.name}; they must be of one dtype"
            )
        super().__init__(
            base_operator.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            {"base_operator": base_operator, "u": u},
        )

    @property
    def base_operator(self):
        """The operator that is updated."""
        return self._base

    @property
    def u(self):
        """The left matrix of the update."""
        return self._u

    @property
    def v(self):
        """The right matrix of the update."""
        return self._v

    @property
    def diag_update(self):
        """The diagonal between them, or None."""
        return self._diag

    def _shape(self):
        batch = functools.reduce(
            tf.broadcast_static_shape, [self._base.batch_shape, self._u.shape[:-2]]
        )
        return batch.concatenate(self._base.shape[-2:])

    def _shape_tensor(self):
        shape = self._base.shape_tensor()
        batch = tf.broadcast_dynamic_shape(shape[:-2], tf.shape(self._u)[:-2])
        return tf.concat([batch, shape[-2:]], 0)

    def _scaled(self, x, adjoint=False):
        if self._diag is None:
            return x
        d = tf.math.conj(self._diag) if adjoint and self.dtype.is_complex else self._diag
        return d[..., tf.newaxis] * x

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = tf.linalg.adjoint(x) if adjoint_arg else x
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = self._scaled(tf.matmul(right, x, adjoint_a=True), adjoint)
        return self._base.matmul(x, adjoint=adjoint) + tf.matmul(left, inner)

    def _capacitance(self, adjoint=False):
        """D^-1 + V^H L^-1 U, whose size is that of the update."""
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = tf.matmul(right, self._base.solve(left, adjoint=adjoint), adjoint_a=True)
        if self._diag is None:
            return inner + tf.eye(tf.shape(self._u)[-1], dtype=self.dtype)
        d = tf.math.conj(self._diag) if adjoint and self.dtype.is_complex else self._diag
        return inner + tf.linalg.diag(1 / d)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = tf.linalg.adjoint(rhs) if adjoint_arg else rhs
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        x = self._base.solve(rhs, adjoint=adjoint)
        inner = tf.matmul(right, x, adjoint_a=True)
        small = self._capacitance(adjoint)
        batch = common_batch(small, inner)
        part = tf.linalg.solve(with_batch(small, batch), with_batch(inner, batch))
        return x - self._base.solve(tf.matmul(left, part), adjoint=adjoint)

    def _determinant(self):
        d = 1 if self._diag is None else tf.reduce_prod(self._diag, -1)
        return tf.linalg.det(self._capacitance()) * d * self._base.determinant()

    def _log_abs_determinant(self):
        total = tf.linalg.slogdet(self._capacitance())[1] + self._base.log_abs_determinant()
        if self._diag is None:
            return total
        return total + tf.reduce_sum(tf.math.log(tf.abs(self._diag)), -1)
