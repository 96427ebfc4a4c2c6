"""The largest and smallest along an axis: ``tf.math.approx_max_k`` and its kin."""

from __future__ import annotations

from tidemark._export import export
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call


def _largest(operand, k, axis):
    operand = convert_to_tensor(operand)
    axis = axis + operand.ndim if axis < 0 else axis
    perm = [*(i for i in range(operand.ndim) if i != axis), axis]
    if axis == operand.ndim - 1:
        return call("top_k", (operand, int(k)), {})
    back = [perm.index(i) for i in range(operand.ndim)]
    pair = call("top_k", (call("transpose", (operand,), {"perm": perm}), int(k)), {})
    return tuple(call("transpose", (t,), {"perm": back}) for t in pair)


@export("tf.math.approx_max_k", "tf.nn.approx_max_k")
def approx_max_k(
    operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1,
    aggregate_to_topk=True, name=None,
):  # fmt: skip
    """The ``k`` largest along an axis and their positions; exact here."""
    values, indices = _largest(operand, k, reduction_dimension)
    return values, indices


@export("tf.math.approx_min_k", "tf.nn.approx_min_k")
def approx_min_k(
    operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1,
    aggregate_to_topk=True, name=None,
):  # fmt: skip
    """The ``k`` smallest along an axis and their positions; exact here."""
    values, indices = _largest(-convert_to_tensor(operand), k, reduction_dimension)
    return -values, indices
