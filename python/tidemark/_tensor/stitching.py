"""Rows and tensors put together: ``tf.dynamic_stitch``, ``tf.parallel_stack``."""

from __future__ import annotations

import tidemark
from tidemark._export import export
from tidemark._tensor.creation import convert_to_tensor
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
