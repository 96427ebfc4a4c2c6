"""Systems solved step by step."""

from __future__ import annotations

import collections

import tidemark as tf
from tidemark._export import export

CGState = collections.namedtuple("CGState", ["i", "x", "r", "p", "gamma"])


def _dot(a, b):
    return tf.reduce_sum(tf.math.conj(a) * b if a.dtype.is_complex else a * b, -1)


@export("tf.linalg.experimental.conjugate_gradient")
def conjugate_gradient(
    operator, rhs, preconditioner=None, x=None, tol=1e-05, max_iter=20, name="conjugate_gradient"
):
    """The x with operator x = rhs, vectors, by conjugate gradients: steps, x, residual, direction
    and its norm."""
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    rhs = tf.convert_to_tensor(rhs, dtype=operator.dtype)
    x = tf.zeros_like(rhs) if x is None else tf.convert_to_tensor(x, dtype=operator.dtype)
    limit = tf.cast(tol * tf.norm(rhs, axis=-1), rhs.dtype.real_dtype)

    def conditioned(r):
        return r if preconditioner is None else preconditioner.matvec(r)

    r = rhs - operator.matvec(x)
    p = conditioned(r)
    state = CGState(tf.constant(0, tf.int32), x, r, p, _dot(r, p))

    def goes_on(state):
        far = tf.reduce_any(tf.cast(tf.norm(state.r, axis=-1), limit.dtype) > limit)
        return tf.logical_and(state.i < max_iter, far)

    def step(state):
        z = operator.matvec(state.p)
        alpha = (state.gamma / _dot(state.p, z))[..., tf.newaxis]
        x, r = state.x + alpha * state.p, state.r - alpha * z
        q = conditioned(r)
        gamma = _dot(r, q)
        p = q + (gamma / state.gamma)[..., tf.newaxis] * state.p
        return [CGState(state.i + 1, x, r, p, gamma)]

    return tf.while_loop(goes_on, step, [state])[0]
