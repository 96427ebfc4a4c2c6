"""``tf.vectorized_map`` without a loop: the function is traced for one element, and every step is
done for all elements at once.

A value is *batched* if it depends on the element: it has one more dimension, the first. Ops whose
definition says that they work on elements, reduce axes or go along one follow from that; others
have a rule here. Where there is none, ``NoRule`` is raised and the caller loops.
"""

from __future__ import annotations

import functools

from tidemark import _tidemark, dtypes, nest
from tidemark._graph.tracing import building
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import Tensor, call, is_symbolic


class NoRule(Exception):
    """An op, named in the message, that cannot be done for all elements at once."""


class _Value:
    """A tensor and whether its first dimension is that of the elements."""

    __slots__ = ("tensor", "is_batched")

    def __init__(self, tensor, is_batched):
        self.tensor, self.is_batched = tensor, is_batched

    @property
    def rank(self):
        """That of the value for one element."""
        rank = self.tensor.shape.rank
        if rank is None:
            raise NoRule("a tensor of unknown rank")
        return rank - self.is_batched


def _shifted(axis):
    """An axis of an element as one of the batch; those counted from the end stay."""
    return axis + 1 if axis >= 0 else axis


def _ints(first, rest):
    """``first`` before the integers of a tensor."""
    rest = convert_to_tensor(rest)
    head = _tidemark.convert(first, rest.dtype._enum)
    return call("concat", ([head, rest],), {"axis": 0})


def _aligned(values):
    """The tensors with dimensions of size 1 after the batch, so that elements broadcast."""
    rank = max(value.rank for value in values)
    out = []
    for value in values:
        tensor, missing = value.tensor, rank - value.rank
        if value.is_batched and missing:
            for _ in range(missing):
                tensor = call("expand_dims", (tensor,), {"axis": 1})
        out.append(tensor)
    return out


class _Batching:
    """Walks the traced graph and computes it for all elements."""

    def __init__(self, count):
        self._count, self._done = count, {}

    def give(self, symbolic, value):
        self._done[_key(symbolic)] = [value]

    def value(self, tensor):
        if not is_symbolic(tensor):
            return _Value(tensor, False)
        outputs = self._outputs(tensor)
        return outputs[_tidemark.value_index(tensor)]

    def _outputs(self, wanted):
        """The outputs of the node, computed after what it needs: without recursion, graphs are
        deep."""
        stack = [wanted]
        while stack:
            tensor = stack[-1]
            inputs = _tidemark.node_inputs(tensor)
            missing = [t for t in inputs if is_symbolic(t) and _key(t) not in self._done]
            if _key(tensor) in self._done:
                stack.pop()
            elif missing:
                stack.extend(missing)
            else:
                self._done[_key(tensor)] = self._computed(tensor, inputs)
        return self._done[_key(wanted)]

    def _computed(self, tensor, inputs):
        kind, attrs = _tidemark.node_kind(tensor), dict(_tidemark.node_attrs(tensor))
        values = [self.value(t) for t in inputs]
        if kind == "constant":
            return values
        rule = _RULES.get(kind) or _rule_by_definition(kind)
        is_batched = any(value.is_batched for value in values)
        if rule is None and (is_batched or kind not in _SOURCES):
            raise NoRule(kind)
        if not is_batched:
            tensors = [value.tensor for value in values]
            result = call(kind, ([*tensors],) if kind in _LISTS else tuple(tensors), attrs)
        else:
            result = rule(self, kind, values, attrs)
        if isinstance(result, _Value):
            return [result]
        results = result if isinstance(result, (list, tuple)) else [result]
        return [_Value(t, is_batched) for t in results]

    def repeated(self, value):
        """The value with a batch dimension in any case."""
        if value.is_batched:
            return value.tensor
        sizes = call("shape", (value.tensor,), {})
        shape = call("concat", ([call("reshape", (self._count, [1]), {}), sizes],), {"axis": 0})
        return call("broadcast_to", (value.tensor, shape), {})


def _key(tensor):
    return _tidemark.node_name(tensor)


# --- rules: the result for all elements -----------------------------------------------------------


def _elementwise(_, kind, values, attrs):
    return call(kind, tuple(_aligned(values)), attrs)


def _reduced(_, kind, values, attrs):
    (value,) = values
    axis = attrs.get("axis")
    if axis is None:
        axis = tuple(range(value.rank))
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    return call(kind, (value.tensor,), {**attrs, "axis": [_shifted(a) for a in axes]})


def _along_one_axis(batching, kind, values, attrs):
    axis = attrs.get("axis")
    if axis is None:
        axis = _tidemark.op_schema(kind)["axis_unless_given"]
    tensors = tuple(batching.repeated(value) for value in values)
    return call(kind, tensors, {**attrs, "axis": _shifted(axis)})


@functools.cache
def _rule_by_definition(kind):
    """The rule that follows from what the op's definition says; None."""
    schema = _tidemark.op_schema(kind)
    if schema is None or any(p["kind"] == "input_list" for p in schema["params"]):
        return None
    if schema["works_on_elements"]:
        return _elementwise
    if schema["reduction"] is not None:
        return _reduced
    return None if schema["axis_unless_given"] is None else _along_one_axis


def _matmul(_, kind, values, attrs):
    return call(kind, tuple(_aligned(values)), attrs)


def _reshape(batching, kind, values, attrs):
    x, shape = values
    if shape.is_batched:
        raise NoRule("reshape to a shape that differs from element to element")
    count = call("reshape", (batching._count, [1]), {})
    sizes = call("cast", (shape.tensor,), {"dtype": dtypes.int32._enum})
    return call(kind, (x.tensor, call("concat", ([count, sizes],), {"axis": 0})), attrs)


def _transpose(_, kind, values, attrs):
    perm = attrs.get("perm")
    if perm is None:
        perm = range(values[0].rank - 1, -1, -1)
    return call(kind, (values[0].tensor,), {**attrs, "perm": [0, *(p + 1 for p in perm)]})


def _expand_dims(_, kind, values, attrs):
    return call(kind, (values[0].tensor,), {**attrs, "axis": _shifted(attrs["axis"])})


def _squeeze(_, kind, values, attrs):
    axis = attrs.get("axis")
    if axis is None:
        axis = [a for a, d in enumerate(values[0].tensor.shape.as_list()[1:]) if d == 1]
    axes = (axis,) if isinstance(axis, int) else axis
    return call(kind, (values[0].tensor,), {**attrs, "axis": [_shifted(a) for a in axes]})


def _joined(batching, kind, values, attrs):
    tensors = [batching.repeated(value) for value in values]
    return call(kind, (tensors,), {**attrs, "axis": _shifted(attrs["axis"])})


def _gather(_, kind, values, attrs):
    params, indices = values
    if attrs.get("batch_dims"):
        raise NoRule("gather with batch_dims")
    axis = attrs.get("axis") or 0
    if not params.is_batched:
        if axis != 0:
            raise NoRule("gather by elements along another axis than the first")
        return call(kind, (params.tensor, indices.tensor), attrs)
    attrs = {**attrs, "axis": _shifted(axis), "batch_dims": int(indices.is_batched)}
    return call(kind, (params.tensor, indices.tensor), attrs)


def _only_the_first(values, kind):
    if any(value.is_batched for value in values[1:]):
        raise NoRule(f"{kind} by numbers that differ from element to element")
    return [value.tensor for value in values]


def _strided_slice(_, kind, values, attrs):
    x, begin, end, strides = _only_the_first(values, kind)
    masks = {name: mask << 1 for name, mask in attrs.items()}
    masks["begin_mask"] |= 1
    masks["end_mask"] |= 1
    return call(kind, (x, _ints([0], begin), _ints([0], end), _ints([1], strides)), masks)


def _slice(_, kind, values, attrs):
    x, begin, size = _only_the_first(values, kind)
    return call(kind, (x, _ints([0], begin), _ints([-1], size)), attrs)


def _tile(_, kind, values, attrs):
    x, multiples = _only_the_first(values, kind)
    return call(kind, (x, _ints([1], multiples)), attrs)


def _pad(_, kind, values, attrs):
    x, paddings, *rest = _only_the_first(values, kind)
    none = _tidemark.convert([[0, 0]], convert_to_tensor(paddings).dtype._enum)
    paddings = call("concat", ([none, paddings],), {"axis": 0})
    return call(kind, (x, paddings, *rest), attrs)


def _shape(_, kind, values, attrs):
    """Alike for all elements."""
    sizes = call(kind, (values[0].tensor,), attrs)
    return _Value(sizes[1:], False)


def _last_axis(_, kind, values, attrs):
    return call(kind, tuple(_only_the_first(values, kind)), attrs)


# op names: how each is done for all elements at once, where its definition does not say.
_RULES = {
    "concat": _joined,
    "expand_dims": _expand_dims,
    "gather": _gather,
    "matmul": _matmul,
    "pad": _pad,
    "reshape": _reshape,
    "shape": _shape,
    "slice": _slice,
    "squeeze": _squeeze,
    "stack": _joined,
    "strided_slice": _strided_slice,
    "tile": _tile,
    "top_k": _last_axis,
    "transpose": _transpose,
}
_LISTS = ("concat", "stack")  # whose inputs are one list
# Computed as they are where nothing depends on the element.
# op names: what makes tensors out of sizes.
_SIZED = ("broadcast_to", "fill", "linspace", "one_hot", "range", "size")
_SOURCES = frozenset((*_SIZED, *_RULES))


def vectorized(fn, elems):
    """``fn`` of all elements at once; raises NoRule where that is not to be had."""
    leaves = [convert_to_tensor(leaf) for leaf in nest.flatten(elems)]
    sizes = {None if leaf.shape.rank is None else leaf.shape[0] for leaf in leaves}
    if len(sizes) != 1 or None in sizes or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise NoRule("elements of an unknown number, or repeated ones")
    (count,) = sizes
    with building("vectorized") as builder:
        inputs = [builder.add_input(leaf.dtype, tuple(leaf.shape.as_list()[1:])) for leaf in leaves]
        result = fn(nest.pack_sequence_as(elems, inputs))
        outputs = [builder.own(convert_to_tensor(leaf)) for leaf in nest.flatten(result)]
        finished = builder.finish(outputs)
        around = [(builder.own(outer), outer) for outer in builder.captures]
    if finished.num_effects or builder.variable_ids:
        raise NoRule("variables" if builder.variable_ids else "effects")
    batching = _Batching(convert_to_tensor(count))
    for symbolic, leaf in zip(inputs, leaves, strict=True):
        batching.give(symbolic, _Value(leaf, True))
    for symbolic, outer in around:
        batching.give(symbolic, _Value(outer, False))
    found = [batching.repeated(batching.value(t)) for t in outputs]
    return nest.pack_sequence_as(result, found)


__all__ = ["NoRule", "vectorized"]
