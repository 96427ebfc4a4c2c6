"""``tf.raw_ops``: ops under TensorFlow's inner names, called with keywords alone.

They are made, with TensorFlow's signatures, from the definitions that graphs are read with; those
here are not among these.
"""

from __future__ import annotations

import functools as _functools

from tidemark import dtypes
from tidemark._tensor.arrays import Unique as _Unique
from tidemark._tensor.arrays import UniqueWithCounts as _UniqueWithCounts
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import call, convert


def Bucketize(*, input, boundaries, name=None):
    """The number of boundaries that are not above each element."""
    input = convert_to_tensor(input)
    limits = convert(list(boundaries), dtypes.float32._enum)
    flat = call("reshape", (cast(input, dtypes.float32), (-1,)), {})
    found = cast(call("searchsorted", (limits, flat), {"side": "right"}), dtypes.int32)
    return call("reshape", (found, call("shape", (input,), {})), {})


def UniqueV2(*, x, axis, out_idx=dtypes.int32, name=None):
    """Each element, or slice along an axis, once; and where each of them went."""
    y, index, _ = _unique(x, axis, out_idx)
    return _Unique(y, index)


def UniqueWithCountsV2(*, x, axis, out_idx=dtypes.int32, name=None):
    """As UniqueV2, and how often each of them came up."""
    return _UniqueWithCounts(*_unique(x, axis, out_idx))


def _unique(x, axis, out_idx):
    x = convert_to_tensor(x)
    axes = [int(a) for a in convert_to_tensor(axis).numpy().reshape(-1)]
    number = dtypes.as_dtype(out_idx)._enum
    if not axes or x.shape.rank <= 1:
        return call("unique_with_counts", (x,), {"out_idx": number})
    axis = axes[0] % x.shape.rank
    order = [axis, *(d for d in range(x.shape.rank) if d != axis)]
    rows = call("transpose", (x,), {"perm": order})
    # A slice gets a number: that of the first slice equal to it.
    names = _row_names(call("reshape", (rows, (rows.shape[0], -1)), {}))
    _, index, count = call("unique_with_counts", (names,), {"out_idx": number})
    first = call("unsorted_segment_min", (
        call("range", (0, rows.shape[0], 1), {}), index, call("size", (count,), {})
    ), {})  # fmt: skip
    back = sorted(range(len(order)), key=order.__getitem__)
    picked = call("gather", (rows, first), {"axis": 0})
    return call("transpose", (picked,), {"perm": back}), index, count


def _row_names(matrix):
    """One number a row, the same for equal rows: columns are taken in one after the other."""
    names = call("range", (0, matrix.shape[0], 1), {}) * 0
    for column in range(matrix.shape[1]):
        _, value = call("unique", (matrix[:, column],), {})
        _, names = call("unique", (names * (matrix.shape[0] + 1) + value,), {})
    return names


def ImageProjectiveTransformV3(
    *, images, transforms, output_shape, fill_value, interpolation, fill_mode="CONSTANT", name=None
):
    """Images seen through projective maps from output to input places."""
    from tidemark.image._projective import transform  # loaded on first use

    return transform(images, transforms, output_shape, fill_value, interpolation, fill_mode)


@_functools.cache
def found(name):
    """The function of an operation; None."""
    from tidemark._tensorflow.raw import functions, variables  # few programs use these
    from tidemark._v1.graph_def import raw_calls

    if name.startswith("_"):
        return None
    if name in variables.NAMES:
        return variables.NAMES[name]
    if raw_calls.is_computed(name):
        return raw_calls.function(name)
    return globals().get(name) or functions.function(name)


@_functools.cache
def __getattr__(name):
    from tidemark._tensorflow.raw import refusals  # few programs use these
    from tidemark._v1.graph_def import op_defs

    made = found(name)
    if made is None and not name.startswith("_") and op_defs.find(name) is not None:
        made = refusals.stand_in(name)
    if made is None:
        raise AttributeError(f"module 'tensorflow.raw_ops' has no attribute {name!r}")
    return made


def __dir__():
    from tidemark._tensorflow.raw import functions, refusals, variables  # few use these
    from tidemark._v1.graph_def import op_defs, raw_calls

    made = [
        name
        for name in op_defs.recorded()
        if raw_calls.is_computed(name) or refusals.reason(name) is not None
    ]
    own = (name for name in globals() if name[0].isupper())
    return sorted({*made, *variables.NAMES, *functions.names(), *own})
