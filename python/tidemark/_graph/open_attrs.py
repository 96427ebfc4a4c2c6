"""Ops along axes that a graph knows only when it runs: ``tf.reduce_sum(x, axis)`` of a tensor.

An axis is an attribute of an op, a number in its definition. Where it is a tensor without a value,
the sizes before it and those after it are folded into one dimension each, so that it is axis 1 of
three; orders of axes and several axes at once go by places in the flat tensor. All of it are
ordinary steps: plans and gradients follow.
"""

from __future__ import annotations

import functools

from tidemark import _tidemark, dtypes
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import Tensor, call
from tidemark.ragged._row_partition import check_that

_INT32 = dtypes.int32._enum
_INT64 = dtypes.int64._enum


def answer(op, inputs, attrs):
    """The result of an op one of whose attributes is a tensor without a value; NotImplemented:
    there is no way around the value."""
    rule = _RULES.get(op) or _rule_by_definition(op)
    is_open = [name for name, value in attrs.items() if _is_unknown(value)]
    if rule is None or is_open not in (["axis"], ["perm"]):
        return NotImplemented
    return rule(op, inputs, attrs)


def _is_unknown(value):
    if isinstance(value, (list, tuple)):
        return any(_is_unknown(item) for item in value)
    return isinstance(value, Tensor) and _tidemark.static_value(value) is None


def _cast(value, dtype):
    return call("cast", (convert_to_tensor(value),), {"dtype": dtype})


def _joined(*parts):
    return call("concat", (list(parts),), {"axis": 0})


def _product(sizes):
    return call("reshape", (call("prod", (sizes,), {}), [1]), {})


def _checked_axes(op, axes, rank):
    """The axes counted from the first, which they are between it and the last."""
    axes = _cast(axes, _INT32)
    inside = call("logical_and", (axes >= -rank, axes < rank), {})
    check_that(call("all", (inside,), {}), f"[{op}] axis is not one that the tensor has")
    return call("select", (axes < 0, axes + rank, axes), {})


class _Folded:
    """A tensor around one of its axes: the sizes before it, its own, those after it."""

    def __init__(self, op, x, axis, more=0):
        self.x = convert_to_tensor(x)
        self.sizes = call("shape", (self.x,), {"out_type": _INT32})
        rank = call("size", (self.sizes,), {"out_type": _INT32}) + more
        self.axis = call("reshape", (_checked_axes(op, axis, rank), []), {})
        self.before = self.sizes[: self.axis]

    @property
    def after(self):
        return self.sizes[self.axis + 1 :]

    @property
    def tensor(self):
        """The tensor in three dimensions, the axis in their middle."""
        own = self.sizes[self.axis : self.axis + 1]
        return call(
            "reshape", (self.x, _joined(_product(self.before), own, _product(self.after))), {}
        )

    def unfolded(self, y, *middle, rank=None):
        """A result with these sizes in the place of the axis; its rank, if that is known."""
        y = call("reshape", (y, _joined(self.before, *middle, self.after)), {})
        if rank is not None:
            y.set_shape([None] * rank)
        return y

    def rank_and(self, more):
        """The rank plus a number; None where either is unknown."""
        rank = self.x.shape.rank
        return None if rank is None or more is None else rank + more


def _along(op, inputs, attrs):
    """One result of the same sizes, or several of which only that of the axis differs."""
    folded = _Folded(op, inputs[0], attrs["axis"])
    results = call(op, (folded.tensor, *inputs[1:]), {**attrs, "axis": 1})
    rank = folded.rank_and(0)
    if not isinstance(results, Tensor):
        return [folded.unfolded(y, _middle(y), rank=rank) for y in results]
    return call("reshape", (results, folded.sizes), {})


def _middle(y):
    return call("shape", (y,), {"out_type": _INT32})[1:2]


def _gather(op, inputs, attrs):
    if attrs.get("batch_dims"):
        return NotImplemented
    folded, indices = _Folded(op, inputs[0], attrs["axis"]), convert_to_tensor(inputs[1])
    y = call(op, (folded.tensor, indices), {**attrs, "axis": 1})
    rank = None if indices.shape.rank is None else indices.shape.rank - 1
    return folded.unfolded(
        y, call("shape", (indices,), {"out_type": _INT32}), rank=folded.rank_and(rank)
    )


def _concat(op, inputs, attrs):
    values = inputs[0] if isinstance(inputs[0], (list, tuple)) else inputs
    all_folded = [_Folded(op, value, attrs["axis"]) for value in values]
    first = all_folded[0]
    for other in all_folded[1:]:
        same = call(
            "equal", (_joined(first.before, first.after), _joined(other.before, other.after)), {}
        )
        check_that(call("all", (same,), {}), f"[{op}] sizes differ in more than the axis")
    y = call(op, ([folded.tensor for folded in all_folded],), {**attrs, "axis": 1})
    ranks = {folded.x.shape.rank for folded in all_folded} - {None}
    return first.unfolded(y, _middle(y), rank=ranks.pop() if ranks else None)


def _expand_dims(op, inputs, attrs):
    folded = _Folded(op, inputs[0], attrs["axis"], more=1)
    sizes = _joined(folded.before, [1], folded.sizes[folded.axis :])
    return call("reshape", (folded.x, sizes), {})


def _reduced(op, inputs, attrs):
    """Over one axis, or over all of a vector of them, which come last in another order."""
    axes, keeps = convert_to_tensor(attrs["axis"]), attrs.get("keepdims", False)
    rest = {name: value for name, value in attrs.items() if name != "keepdims"}
    if axes.shape.rank == 0 or axes.shape == [1]:
        folded = _Folded(op, inputs[0], axes)
        y = call(op, (folded.tensor,), {**rest, "axis": 1})
        if keeps:
            return folded.unfolded(y, [1], rank=folded.rank_and(0))
        return folded.unfolded(y, rank=folded.rank_and(-1) if op in _PICKING else None)
    x = convert_to_tensor(inputs[0])
    sizes = call("shape", (x,), {"out_type": _INT32})
    rank = call("size", (sizes,), {"out_type": _INT32})
    axes = call("reshape", (_checked_axes(op, axes, rank), [-1]), {})
    every = call("range", (0, rank, 1), {})
    is_reduced = call("any", (every[:, None] == axes[None, :],), {"axis": -1})
    kept, gone = (call("boolean_mask", (every, mask), {})
                  for mask in (call("logical_not", (is_reduced,), {}), is_reduced))  # fmt: skip
    kept_sizes = call("gather", (sizes, kept), {})
    rows = _joined(_product(kept_sizes), _product(call("gather", (sizes, gone), {})))
    moved = call("reshape", (_transpose(op, [x], {"perm": _joined(kept, gone)}), rows), {})
    y = call(op, (moved,), {**rest, "axis": 1})
    if not keeps:
        return call("reshape", (y, kept_sizes), {})
    y = call("reshape", (y, call("select", (is_reduced, 1, sizes), {})), {})
    if x.shape.rank is not None:
        y.set_shape([None] * x.shape.rank)
    return y


def _strides(sizes):
    """How far apart neighbours along each axis lie, of a tensor of these sizes."""
    return call("cumprod", (sizes,), {"axis": 0, "exclusive": True, "reverse": True})


def _places(sizes):
    """The place along each axis of all elements: a row for each axis."""
    every = call("range", (_cast(0, _INT64), call("prod", (sizes,), {}), _cast(1, _INT64)), {})
    return (every[None, :] // _strides(sizes)[:, None]) % sizes[:, None]


def _picked(x, places, strides, sizes):
    """The elements at the places that rows of numbers, one an axis, say."""
    flat = call("sum", (places * strides[:, None],), {"axis": [0]})
    return call("reshape", (call("gather", (call("reshape", (x, [-1]), {}), flat), {}), sizes), {})


def _transpose(op, inputs, attrs):
    x = convert_to_tensor(inputs[0])
    sizes = call("shape", (x,), {"out_type": _INT64})
    rank = call("size", (sizes,), {"out_type": _INT32})
    perm = _checked_axes(op, attrs["perm"], rank)
    each_once = call("sort", (perm,), {}) == call("range", (0, rank, 1), {})
    check_that(call("all", (each_once,), {}), f"[{op}] perm must name each axis once")
    moved = call("gather", (sizes, perm), {})
    y = _picked(x, _places(moved), call("gather", (_strides(sizes), perm), {}), moved)
    rank = x.shape.rank if x.shape.rank is not None else convert_to_tensor(attrs["perm"]).shape[0]
    if rank is not None:
        y.set_shape([None] * rank)
    return call("conj", (y,), {}) if attrs.get("conjugate") else y


def _reverse(op, inputs, attrs):
    x = convert_to_tensor(inputs[0])
    sizes = call("shape", (x,), {"out_type": _INT64})
    rank = call("size", (sizes,), {"out_type": _INT32})
    axes = call("reshape", (_checked_axes(op, attrs["axis"], rank), [-1]), {})
    is_reversed = call(
        "any", (call("range", (0, rank, 1), {})[:, None] == axes[None, :],), {"axis": -1}
    )
    places = _places(sizes)
    places = call("select", (is_reversed[:, None], sizes[:, None] - 1 - places, places), {})
    return _picked(x, places, _strides(sizes), sizes)


def _roll(op, inputs, attrs):
    x, shifts = inputs
    axes, shifts = convert_to_tensor(attrs["axis"]), convert_to_tensor(shifts)
    if axes.shape.rank == 0:
        folded = _Folded(op, x, axes)
        return call("reshape", (call(op, (folded.tensor, shifts), {"axis": [1]}), folded.sizes), {})
    if not axes.shape.is_fully_defined():
        return NotImplemented
    for at in range(axes.shape[0]):
        x = _roll(op, [x, shifts[at]], {"axis": axes[at]})
    return x


# op names: what goes another way than along one axis or over several.
_RULES = {
    "concat": _concat,
    "expand_dims": _expand_dims,
    "gather": _gather,
    "reverse": _reverse,
    "roll": _roll,
    "split": _along,
    "transpose": _transpose,
    "unstack": lambda *_: NotImplemented,  # one axis less
}
# op names: what tells the place of an element along the one axis it goes over.
_PICKING = ("argmax", "argmin")


@functools.cache
def _rule_by_definition(op):
    """The rule that follows from what the op's definition says; None."""
    schema = _tidemark.op_schema(op)
    if schema is None or any(p["kind"] == "input_list" for p in schema["params"]):
        return None
    if schema["reduction"] is not None or op in _PICKING:
        return _reduced
    return None if schema["axis_unless_given"] is None else _along
