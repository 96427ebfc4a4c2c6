"""``tf.gradients``: derivatives as tensors of the graph."""

from __future__ import annotations

import tidemark as tf
from tidemark import _tidemark
from tidemark._tensor.creation import convert_to_tensor
from tidemark._v1.graph import current_place


class AggregationMethod:
    """How several gradients of one tensor are added; accepted."""

    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def _element(x):
    if isinstance(x, _tidemark.VariableBase):
        return x  # whatever reads it in the graph
    return x._as_graph_element() if hasattr(x, "_as_graph_element") else convert_to_tensor(x)


def _elements(xs):
    return [_element(x) for x in (xs if isinstance(xs, (list, tuple)) else [xs])]


def _seeds(grad_ys, count):
    if grad_ys is None:
        return None
    seeds = list(grad_ys) if isinstance(grad_ys, (list, tuple)) else [grad_ys]
    if len(seeds) != count:
        raise ValueError(f"grad_ys has {len(seeds)} items and ys has {count}; they go together")
    return seeds


def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False,
              gate_gradients=False, aggregation_method=None, stop_gradients=None,
              unconnected_gradients="none"):  # fmt: skip
    """The gradients of the sum of the ``ys`` by each of the ``xs``, as tensors of the graph."""
    if current_place() is None and not _tidemark.is_tracing():
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape "
            "instead."
        )
    tensors, targets = _elements(xs), _elements(ys)
    seeds = _seeds(grad_ys, len(targets))
    if seeds is not None:
        seeds = [
            tf.ones_like(y) if seed is None else convert_to_tensor(seed, dtype=y.dtype)
            for seed, y in zip(seeds, targets, strict=True)
        ]
    stopped = [] if stop_gradients is None else _elements(stop_gradients)
    found = _tidemark.graph_gradients(targets, tensors, seeds, stopped)
    wants_zeros = str(getattr(unconnected_gradients, "value", unconnected_gradients)) == "zero"
    out = []
    for x, grad in zip(tensors, found, strict=True):
        if isinstance(grad, tuple):
            grad = tf.IndexedSlices(*grad[:2], tf.constant(grad[2]))
        if grad is None and wants_zeros:
            grad = tf.zeros_like(x)
        out.append(grad)
    return out


def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False,
             aggregation_method=None):  # fmt: skip
    """The second derivatives of the sum of the ``ys`` by each of the ``xs``."""
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    out = []
    for x in xs:
        (first,) = gradients(ys, x)
        shape = _element(x).shape.as_list()
        flat = tf.reshape(first, [-1])
        rows = [gradients(flat[i], x)[0] for i in range(flat.shape[0])]
        rows = [tf.zeros(shape, first.dtype) if row is None else row for row in rows]
        out.append(tf.reshape(tf.stack(rows), [*shape, *shape]))
    return out
