"""Iterators over datasets, in eager code and inside functions."""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark, nest
from tidemark._tracing import is_tracing
from tidemark._type_specs import CompositeTensor, TensorSpec, TypeSpec
from tidemark.errors import OutOfRangeError


class IteratorSpec(TypeSpec):
    """The type of an iterator over elements of a spec."""

    def __init__(self, element_spec):
        self._element_spec = element_spec

    element_spec = property(lambda self: self._element_spec)
    value_type = property(lambda self: Iterator)

    def _serialize(self):
        return (self._element_spec,)


class Iterator:
    """The elements of a dataset, one after the other. Its buffers go with it."""

    def __init__(self, dataset):
        self._dataset = dataset
        self._spec = dataset.element_spec
        self._iterator = None

    element_spec = property(lambda self: self._spec)
    _type_spec = property(lambda self: IteratorSpec(self._spec))

    def _started(self):
        if self._iterator is None:
            self._iterator = self._dataset._handle.iterate()
        return self._iterator

    def __iter__(self):
        return self

    def __next__(self):
        if is_tracing():
            return self.get_next()
        tensors = self._started().next()
        if tensors is None:
            raise StopIteration
        return self._packed(tensors)

    next = __next__

    def _packed(self, tensors):
        from tidemark.data._dataset import pack

        return pack(self._spec, tensors)

    def get_next(self, name=None):
        """The next element; raises OutOfRangeError after the last."""
        if is_tracing():
            return self._staged_next()
        tensors = self._started().next()
        if tensors is None:
            raise OutOfRangeError(None, None, "End of sequence")
        return self._packed(tensors)

    def _staged_next(self):
        """A node that takes the next element whenever the graph runs."""
        from tidemark._staged import python_call
        from tidemark.data._dataset import flat_specs

        specs = flat_specs(self._spec)
        types = [(s.dtype, None if s.shape.rank is None else tuple(s.shape.as_list()))
                 for s in specs]  # fmt: skip

        def run():
            tensors = self._started().next()
            if tensors is None:
                raise OutOfRangeError(None, None, "End of sequence")
            return tuple(tensors)

        return self._packed(python_call(run, [], types))

    def get_next_as_optional(self):
        """The next element, or an optional without a value after the last."""
        import tidemark as tf

        tensors = self._started().next()
        if tensors is None:
            return tf.experimental.Optional.empty(self._spec)
        return tf.experimental.Optional.from_value(self._packed(tensors))

    def save(self):
        """How many elements were taken: what ``restore`` needs."""
        return 0 if self._iterator is None else self._iterator.taken

    def restore(self, taken):
        """Starts again after as many elements."""
        self._iterator = self._dataset._handle.skip(taken).iterate()


OwnedIterator = Iterator


class NumpyIterator:
    """The elements as NumPy arrays."""

    def __init__(self, dataset):
        self._iterator = Iterator(dataset)

    def __iter__(self):
        return self

    def __next__(self):
        def to_numpy(leaf):
            if isinstance(leaf, CompositeTensor):
                return leaf
            value = leaf.numpy()
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            return value

        return nest.map_structure(to_numpy, next(self._iterator))


__all__ = ["Iterator", "IteratorSpec", "NumpyIterator", "TensorSpec", "_tidemark"]
