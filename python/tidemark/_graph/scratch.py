"""``tf.__internal__.FuncGraph``: a graph that is built to see what comes out, and thrown away.

with tf.__internal__.FuncGraph("scratch").as_default():
    x = tf.compat.v1.placeholder(tf.float32, [None, 3])
    (x @ tf.ones([3, 2])).shape                     # (None, 2)
"""

from __future__ import annotations

import contextlib
import threading

from tidemark import dtypes
from tidemark._graph.scopes import executing_eagerly
from tidemark._graph.tracing import building
from tidemark.tensor_shape import as_shape

_state = threading.local()


def _builders():
    if not hasattr(_state, "builders"):
        _state.builders = []
    return _state.builders


def current_builder():
    """What builds the innermost scratch graph of this thread, or None."""
    builders = _builders()
    return builders[-1] if builders else None


class FuncGraph:
    """A graph to put ops into, under ``as_default``."""

    def __init__(
        self,
        name,
        collections=None,
        capture_by_value=None,
        structured_input_signature=None,
        structured_outputs=None,
    ):
        self.name = name

    @contextlib.contextmanager
    def as_default(self):
        """A context in which ops become nodes of this graph."""
        with building(self.name) as builder:
            _builders().append(builder)
            try:
                yield self
            finally:
                _builders().pop()

    def __repr__(self):
        return f"FuncGraph(name={self.name})"


def placeholder(dtype, shape):
    """An input of the scratch graph around this place; None if there is none."""
    builder = current_builder()
    if builder is None:
        return None
    return builder.add_input(dtypes.as_dtype(dtype), as_shape(shape))


def sparse_placeholder(dtype, shape):
    """As placeholder, for a sparse tensor."""
    from tidemark.sparse._tensor import SparseTensor  # loaded on first use

    if current_builder() is None:
        return None
    shape = as_shape(shape)
    rank = shape.rank
    parts = (
        placeholder(dtypes.int64, [None, rank]),
        placeholder(dtype, [None]),
        placeholder(dtypes.int64, [rank]),
    )
    made = SparseTensor(*parts)
    made.set_shape(shape)
    return made


def inside_function():
    """Whether ops become nodes of a graph here instead of running."""
    return not executing_eagerly()
