"""``tf.vectorized_map`` without a loop: the function is traced for one element, and every step is
done for all elements at once (``trace/batching.h``). Where a step cannot, ``NoRule`` is raised and
the caller loops.
"""

from __future__ import annotations

from tidemark import _tidemark, nest
from tidemark._graph.tracing import building
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import Tensor


class NoRule(Exception):
    """Something, named in the message, that cannot be done for all elements at once."""


def vectorized(fn, elems):
    """``fn`` of all elements at once; raises NoRule where that is not to be had."""
    leaves = [convert_to_tensor(leaf) for leaf in nest.flatten(elems)]
    sizes = {None if leaf.shape.rank is None else leaf.shape[0] for leaf in leaves}
    if len(sizes) != 1 or None in sizes or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise NoRule("elements of an unknown number, or repeated ones")
    with building("vectorized") as builder:
        inputs = [builder.add_input(leaf.dtype, tuple(leaf.shape.as_list()[1:])) for leaf in leaves]
        result = fn(nest.pack_sequence_as(elems, inputs))
        outputs = [builder.own(convert_to_tensor(leaf)) for leaf in nest.flatten(result)]
        finished = builder.finish(outputs)
    if builder.variable_ids:
        raise NoRule("variables")
    found = _tidemark.run_batched(finished, leaves, builder.captures)
    if isinstance(found, str):
        raise NoRule(found)
    return nest.pack_sequence_as(result, found)


__all__ = ["NoRule", "vectorized"]
