"""``tf.autodiff.ForwardAccumulator``: directional derivatives that come along with the values."""

from __future__ import annotations

from tidemark import _tidemark, nest
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call
from tidemark.autodiff._tape import _NONE, _flat, _wants_zeros


class ForwardAccumulator(_tidemark.ForwardAccumulator):
    """Computes Jacobian-vector products of what happens in its context.

    with tf.autodiff.ForwardAccumulator(x, tangent) as acc:
        y = f(x)
    acc.jvp(y)
    """

    def __init__(self, primals, tangents):
        super().__init__()
        nest.assert_same_structure(primals, tangents)
        for primal, tangent in zip(_flat(primals, "primals"), nest.flatten(tangents), strict=True):
            tangent = convert_to_tensor(tangent, dtype=primal.dtype)
            if not primal.shape.is_compatible_with(tangent.shape):
                raise ValueError(
                    f"a tangent has the shape of its primal: {primal.shape} and {tangent.shape}"
                )
            self._watch(primal, tangent)

    def __new__(cls, primals, tangents):
        return super().__new__(cls)

    def jvp(self, primals, unconnected_gradients=_NONE):
        """How the values move when the primals move along their tangents."""
        zeros = _wants_zeros(unconnected_gradients)

        def tangent(value):
            found = self._tangent(value)
            if found is None and zeros:
                return call("zeros_like", (value,), {})
            return found

        return nest.map_structure(tangent, primals)
