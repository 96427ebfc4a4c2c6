"""Rows put together again, and the largest and smallest along an axis."""

from __future__ import annotations

import tidemark
from tidemark import dtypes
from tidemark._creation import cast, convert_to_tensor
from tidemark._export import export
from tidemark._tidemark import call, convert
from tidemark.errors import InvalidArgumentError


@export("tf.dynamic_stitch")
def dynamic_stitch(indices, data, name=None):
    """Row ``indices[m][i]`` of the result is ``data[m][i]``; of several, the last."""
    indices = [convert_to_tensor(i, dtype="int32") for i in indices]
    data = [convert_to_tensor(d) for d in data]
    if len(indices) != len(data) or not data:
        raise InvalidArgumentError(
            None,
            None,
            f"[dynamic_stitch] takes as many indices as data, got {len(indices)} and {len(data)}",
        )
    rows = []
    for i, d in zip(indices, data, strict=True):
        if d._shape_tuple()[: i.ndim] != i._shape_tuple():
            raise InvalidArgumentError(
                None,
                None,
                f"[dynamic_stitch] the shape of data {d.shape} must begin with that of its "
                f"indices, {i.shape}",
            )
        width = list(d._shape_tuple()[i.ndim :])
        count = 1
        for size in i._shape_tuple():
            count *= size
        rows.append(call("reshape", (d, [count, *width]), {}))
    flat = [call("reshape", (i, [-1]), {}) for i in indices]
    places = call("concat", flat, {"axis": 0}) if len(flat) > 1 else flat[0]
    values = call("concat", rows, {"axis": 0}) if len(rows) > 1 else rows[0]
    none = convert([-1])
    count = call("max", (call("concat", (places, none), {"axis": 0}),), {"axis": [0]}) + 1
    width = tidemark.shape(values)[1:]
    shape = call("concat", (call("reshape", (count, [1]), {}), width), {"axis": 0})
    empty = call("fill", (shape, convert(0, values._dtype_enum)), {})
    column = call("expand_dims", (places,), {"axis": 1})
    return tidemark.tensor_scatter_nd_update(empty, column, values)


@export("tf.parallel_stack")
def parallel_stack(values, name="parallel_stack"):
    """Tensors of one shape as the rows of one."""
    return call("stack", [convert_to_tensor(v) for v in values], {"axis": 0})


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


@export("tf.nn.compute_accidental_hits")
def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Where a sampled class is one of the true ones: rows, samples, and weights as good as -inf."""
    true_classes = convert_to_tensor(true_classes)
    sampled = convert_to_tensor(sampled_candidates)
    if true_classes.ndim != 2 or true_classes._shape_tuple()[1] != num_true:
        raise InvalidArgumentError(
            None,
            None,
            f"[compute_accidental_hits] true_classes must have shape [batch, {num_true}], got "
            f"{true_classes.shape}",
        )
    each = call("expand_dims", (true_classes,), {"axis": 2})
    hits = tidemark.where(call("equal", (each, sampled), {}))
    rows = cast(call("gather", (hits, convert(0)), {"axis": 1}), dtypes.int32)
    samples = call("gather", (hits, convert(2)), {"axis": 1})
    lowest = convert(dtypes.float32.min, dtypes.float32._enum)
    weights = call("fill", (tidemark.shape(rows), lowest), {})
    return rows, samples, weights
