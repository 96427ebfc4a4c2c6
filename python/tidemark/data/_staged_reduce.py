"""Going over a dataset inside a graph: each run of the graph has an iterator of its own."""

from __future__ import annotations

import itertools
import weakref

import tidemark as tf
from tidemark import _tidemark, dtypes, nest
from tidemark._graph.staged import python_call
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import Tensor
from tidemark.data._elements import flat_specs, pack
from tidemark.data._iterator import numbers_of, owning_number
from tidemark.data._traced import next_state, tensors_of
from tidemark.tensor_shape import as_shape, sizes_of

_numbers = itertools.count(1)


class Running:
    """What one run goes over."""

    def __init__(self, iterator):
        self.next = iterator.next


def _nothing(spec):
    """Stands in the place of an element after the last one."""
    sizes = [] if spec.shape.rank is None else [d or 0 for d in spec.shape.as_list()]
    zero = convert_to_tensor("" if spec.dtype == dtypes.string else 0, dtype=spec.dtype)
    return _tidemark.call("fill", (convert_to_tensor(sizes, dtype=dtypes.int32), zero), {})


def staged_reduce(dataset, initial_state, reduce_func):
    """The state after all elements, computed when the graph runs."""
    specs = flat_specs(dataset.element_spec)
    running = {}  # number → weakly, the iterator: the run's own tensor keeps it

    def start(*given):
        handle = _tidemark.dataset_from_tensor(given[0]) if given else dataset._handle
        number, iterator = next(_numbers), Running(handle.iterate())
        running[number] = weakref.ref(iterator, lambda _: running.pop(number, None))
        return owning_number(iterator, number)

    def following(number):
        tensors = running[int(number)]().next()
        if tensors is None:
            return (convert_to_tensor(False), *(_nothing(spec) for spec in specs))
        return (convert_to_tensor(True), *tensors)

    types = [(dtypes.bool, ()), *((s.dtype, sizes_of(s.shape)) for s in specs)]
    (number,) = python_call(start, numbers_of(dataset), [(dtypes.int64, ())])
    state = tensors_of(initial_state)
    more, *element = python_call(following, [number], types)

    def body(more, number, state, *element):
        state = next_state(state, reduce_func(state, pack(dataset.element_spec, list(element))))
        _check_shapes(state, shapes)
        more, *element = python_call(following, [number], types)
        return (more, number, state, *element)

    shapes = nest.map_structure(lambda t: t.shape if isinstance(t, Tensor) else None, state)
    composites = nest.map_structure(_of_composite, state)
    while True:
        held = nest.map_structure(lambda a, b: b if a is None else a, shapes, composites)
        try:
            loop = tf.while_loop(
                lambda more, *_: more, body, (more, number, state, *element),
                shape_invariants=(as_shape(()), as_shape(()), held, *(s.shape for s in specs)),
            )  # fmt: skip
        except _Widened as wider:  # built again for the shapes that both have
            shapes = wider.args[0]
        else:
            return loop[2]


def _of_composite(value):
    """What stays as it is of a part of the state that is made of several tensors."""
    if isinstance(value, Tensor):
        return None
    return value.shape if hasattr(value, "dense_shape") else value._type_spec


class _Widened(Exception):
    """The state is after a round of other shapes than before; with those that hold for both."""


def _sizes(shape):
    return None if shape is None else sizes_of(shape)


def _check_shapes(state, shapes):
    """Raises where the state grew; how it is built is what the loop itself checks."""
    before, after = nest.flatten(shapes), nest.flatten(state)
    if len(before) != len(after):
        return
    common = [
        None
        if shape is None
        else as_shape(_tidemark.common_shape(sizes_of(shape), sizes_of(t.shape)))
        for shape, t in zip(before, after, strict=True)
    ]
    if [_sizes(shape) for shape in common] != [_sizes(shape) for shape in before]:
        raise _Widened(nest.pack_sequence_as(shapes, common))
