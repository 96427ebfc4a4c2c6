"""Conditions, loops and Python calls as nodes of the graph being built."""

from __future__ import annotations

import itertools

from tidemark import _tidemark, nest
from tidemark._graph.python_functions import remember
from tidemark._graph.tracing import Structure, building
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.optional import Optional, OptionalSpec
from tidemark._tensor.specs import TensorSpec, TypeSpec
from tidemark._tidemark import Tensor
from tidemark.errors import InvalidArgumentError
from tidemark.tensor_shape import as_shape, sizes_of


def _tensor(leaf):
    if leaf is None or isinstance(leaf, Tensor):
        return leaf
    return convert_to_tensor(leaf)


def _trace_branch(function, name):
    for_session = _tidemark.builds_for_sessions()
    with building(name) as builder:
        value = function()
        if for_session:
            value = nest.map_structure(_fetchable, value)
        structure, outputs = Structure.of(value, _tensor)
        outputs = [builder.own(t) for t in outputs]
    return builder, structure, outputs


def _fetchable(leaf):
    """What a session fetches of a branch: an operation, which has no value, is told to have run."""
    from tidemark._graph.operation import Operation  # it imports what this module is part of

    return convert_to_tensor(True) if leaf is None or isinstance(leaf, Operation) else leaf


def branch(index, functions, names, what, last_first=False):
    """The result of the function that ``index``, a tensor, picks. ``last_first``: the order in
    which the functions are traced, which shows in what they do in Python."""
    order = list(zip(functions, names, strict=True))
    if last_first:
        traced = [_trace_branch(f, name) for f, name in reversed(order)][::-1]
    else:
        traced = [_trace_branch(f, name) for f, name in order]
    _, first, outputs = traced[0]
    specs = [(t.dtype, sizes_of(t.shape)) for t in outputs]
    for (_, structure, others), name in zip(traced[1:], names[1:], strict=True):
        try:
            nest.assert_same_structure(first._value, structure._value)
            if len(others) != len(outputs):
                raise ValueError(f"{len(outputs)} tensors and {len(others)} tensors")
        except (ValueError, TypeError) as error:
            raise TypeError(
                f"{_pair(names[0], name, last_first)} arguments to {what} must have the same "
                f"number, type, and overall structure of return values: {error}"
            ) from None
        for at, t in enumerate(others):
            dtype, shape = specs[at]
            if t.dtype != dtype:
                raise TypeError(
                    f"{_pair(names[0], name, last_first)} arguments to {what} must have the same "
                    f"number, type, and overall structure of return values: output {at} is "
                    f"{dtype.name} in one and {t.dtype.name} in the other"
                )
            specs[at] = (dtype, _tidemark.common_shape(shape, sizes_of(t.shape)))
    graphs = [builder.finish(tensors) for builder, _, tensors in traced]
    builders = [builder for builder, _, _ in traced]
    results = _tidemark.branch(index, builders, graphs, specs)
    for _, structure, _ in traced[1:]:
        first = first.joined(structure)
    return first.pack(results)


def _pair(first, other, last_first):
    return f"{other} and {first}" if last_first else f"{first} and {other}"


def cond(pred, true_fn, false_fn):
    """As ``tf.cond`` over a tensor."""
    pred = convert_to_tensor(pred)
    if pred.shape.rank not in (0, None):
        raise InvalidArgumentError(None, None, f"pred must be a scalar, got shape {pred.shape}")
    if pred.dtype.name != "bool":
        raise TypeError(f"pred must be a bool tensor, got {pred.dtype.name}")
    return branch(pred, [false_fn, true_fn], ["false_fn", "true_fn"], "tf.cond", last_first=True)


class _Loop:
    """What a staged loop carries from round to round."""

    def __init__(self, loop_vars, invariants):
        self.structure, self.values = Structure.of(loop_vars, _tensor)
        self.specs = [(t.dtype, sizes_of(t.shape)) for t in self.values]
        self.is_declared = [False] * len(self.specs)
        shapes = itertools.repeat(None)
        if invariants is not None:
            shapes = nest.flatten_up_to(loop_vars, invariants)
        at = 0
        for shape, (spec, _, count) in zip(shapes, self.structure._parts, strict=False):
            sizes = _declared(spec, count, shape)
            if sizes is not None:
                self.specs[at : at + count] = [
                    (dtype, size) for (dtype, _), size in
                    zip(self.specs[at : at + count], sizes, strict=True)
                ]  # fmt: skip
                self.is_declared[at : at + count] = [shape is not None] * count
            at += count
        for at, shape in _optional_shapes(self.structure):
            self.specs[at] = (self.specs[at][0], shape)
        for at, leaf in _open_ended(self.structure):
            self.specs[at] = (self.specs[at][0], None)
            self.is_declared[at] = leaf

    def inputs(self, builder):
        return [builder.add_input(dtype, shape) for dtype, shape in self.specs]

    def check(self, structure, tensors):
        """Raises unless a round gives what the next one takes."""
        try:
            nest.assert_same_structure(self.structure._value, structure._value, check_types=False)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"The two structures don't have the same nested structure: the body of the loop "
                f"must return as many values as there are loop variables. {error}"
            ) from None
        if len(tensors) != len(self.specs):
            raise ValueError(
                f"the body of the loop returns {len(tensors)} tensors; there are "
                f"{len(self.specs)} loop variables"
            )
        for at, t in enumerate(tensors):
            dtype, shape = self.specs[at]
            if t.dtype != dtype:
                raise TypeError(
                    f"loop variable {at} is {dtype.name} before the loop and {t.dtype.name} after "
                    "one round; give it one type with tf.cast"
                )
            if shape is not None and _tidemark.common_shape(shape, sizes_of(t.shape)) != shape:
                raise ValueError(
                    f"loop variable {at} enters the loop with shape {as_shape(shape)}, but has "
                    f"shape {t.shape} after one iteration. To allow the shape to vary across "
                    "iterations, use the `shape_invariants` argument of tf.while_loop to specify a "
                    "less-specific shape."
                )


def _declared(spec, count, shape):
    """The shapes that a loop variable of so many tensors may have in any round, where they are
    told, or follow from its spec: sparse and ragged values may grow. None where neither is so."""
    if spec is None:
        told = shape is not None and count == 1
        return [sizes_of(as_shape(getattr(shape, "shape", shape)))] if told else None
    if isinstance(shape, TypeSpec):
        spec = shape
    elif shape is not None and hasattr(spec, "_with_shape"):
        spec = spec._with_shape(as_shape(shape))
    if not hasattr(spec, "may_grow"):
        return None
    parts = nest.flatten(spec, expand_composites=True)
    return [sizes_of(part.shape) for part in parts] if len(parts) == count else None


def _open_ended(structure):
    """Positions of tensors whose shape is free to change: the contents of tensor arrays."""
    at = 0
    for spec, _, count in structure._parts:
        if getattr(spec, "has_open_shape", False):
            for k in range(count):
                yield at + k, True
        at += count


def _optional_shapes(structure):
    """Positions and shapes of what optionals may hold: an empty one says nothing by its tensors."""
    at = 0
    for spec, _, count in structure._parts:
        if isinstance(spec, OptionalSpec):
            for k, part in enumerate(nest.flatten(spec._component_specs)):
                if isinstance(part, TensorSpec):
                    yield at + k, sizes_of(part.shape)
        at += count


def _completed(body, loop_vars):
    """The loop variables with optionals of no known type made of the type that a round gives."""
    flat = nest.flatten(loop_vars)
    unknown = [at for at, leaf in enumerate(flat) if isinstance(leaf, Optional)]
    unknown = [at for at in unknown if flat[at]._type_spec.is_incomplete]
    if not unknown:
        return loop_vars
    structure, values = Structure.of(loop_vars, _tensor)
    with building("while_probe") as builder:
        inputs = [builder.add_input(t.dtype, sizes_of(t.shape)) for t in values]
        after = nest.flatten(body(*structure.pack(inputs)))
    if len(after) == len(flat):  # else the check of the loop itself says what is wrong
        for at in unknown:
            flat[at] = Optional.empty(after[at].element_spec)
    return nest.pack_sequence_as(loop_vars, flat)


def while_loop(cond, body, loop_vars, shape_invariants, maximum_iterations):
    """As ``tf.while_loop``, over a list or tuple of loop variables."""
    loop_vars = _completed(body, loop_vars)
    loop = _Loop(loop_vars, shape_invariants)
    with building("while_cond") as condition:
        goes_on = convert_to_tensor(cond(*loop.structure.pack(loop.inputs(condition))))
        if goes_on.dtype.name != "bool" or goes_on.shape.rank not in (0, None):
            raise TypeError(f"cond must return a boolean scalar tensor, got {goes_on!r}")
        goes_on = condition.own(goes_on)
    with building("while_body") as builder:
        result = body(*loop.structure.pack(loop.inputs(builder)))
        if not isinstance(result, (list, tuple)) or (len(loop_vars) == 1 and len(result) != 1):
            result = (result,)
        if type(result) is not type(loop_vars):
            result = type(loop_vars)(result)
        structure, tensors = Structure.of(result, _tensor)
        loop.check(structure, tensors)
        tensors = [builder.own(t) for t in tensors]
    most = -1 if maximum_iterations is None else maximum_iterations
    if isinstance(most, Tensor):
        most = _tidemark.call("cast", (most,), {"dtype": "int64"})
    condition_graph, body_graph = condition.finish([goes_on]), builder.finish(tensors)
    results = _tidemark.loop(
        loop.values, most, condition, condition_graph, builder, body_graph, loop.specs
    )
    return loop.structure.joined(structure).pack(results)


def python_call(function, inputs, types, has_effect=True):
    """Calls a Python function whenever the graph runs; ``types``: (dtype, shape) of its results."""
    results = _tidemark.python_call(
        function, [convert_to_tensor(x) for x in inputs], types, has_effect
    )
    return remember(results, function)


def effect(function, *inputs):
    """Calls a Python function for its effect whenever the graph runs."""

    def run(*values):
        function(*values)

    _tidemark.python_call(run, [convert_to_tensor(x) for x in inputs], [], True)
