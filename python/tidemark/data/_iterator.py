"""Iterators over datasets, in eager code and inside functions."""

from __future__ import annotations

import itertools
import os
import threading
import weakref

import numpy as np

from tidemark import _tidemark, dtypes, nest
from tidemark._graph.staged import python_call
from tidemark._graph.tracing import is_tracing, lifted
from tidemark._tensor.creation import convert_to_tensor, zeros
from tidemark._tensor.optional import Optional
from tidemark._tensor.specs import CompositeTensor, TensorSpec, TypeSpec
from tidemark.data._elements import flat_specs, pack
from tidemark.data._options import ExternalStatePolicy
from tidemark.data._staged_handles import StagedHandle
from tidemark.errors import FailedPreconditionError, OutOfRangeError


def types_of(spec):
    """(dtype, sizes) of the tensors of an element."""

    def sizes(shape):
        return None if shape.rank is None else tuple(shape.as_list())

    return [(s.dtype, sizes(s.shape)) for s in flat_specs(spec)]


def take(iterator):
    tensors = iterator.next()
    if tensors is None:
        raise OutOfRangeError(None, None, "End of sequence")
    return tuple(tensors)


def _take_if_any(iterator, specs):
    """Whether there was one, and its tensors; empty ones if there was none."""
    tensors = None if iterator is None else iterator.next()
    if tensors is not None:
        return (convert_to_tensor(True), *tensors)
    empty = [zeros([size or 0 for size in s.shape.as_list() or ()], s.dtype) for s in specs]
    return (convert_to_tensor(False), *empty)


class _Owner:
    """Memory with a number in it that keeps an object: tensors over it own the object."""

    def __init__(self, number, owned):
        self._number = np.array(number, np.int64)
        self.__array_interface__ = self._number.__array_interface__
        self._owned = owned


def owning_number(owned, number):
    """A scalar tensor with the number; the object lives as long as the tensor and its copies."""
    array = np.asarray(_Owner(number, owned))
    return _tidemark.from_dlpack(array)


def numbers_of(dataset):
    """What a node that goes over the dataset is given."""
    handle = dataset._handle
    return [handle.as_tensor()] if isinstance(handle, StagedHandle) else []


def run_time_dataset(dataset, given):
    """The dataset as it is when the graph runs."""
    if not given:
        return dataset
    return type(dataset)._of_handle(_tidemark.dataset_from_tensor(given[0]), dataset.element_spec)


# Iterators by the number that stands for them in graphs, as long as somebody holds them.
_by_number = weakref.WeakValueDictionary()
_numbers = itertools.count(1)
_MOST_TRACED_ELEMENTS = 32  # in a loop that AutoGraph did not convert


class IteratorSpec(TypeSpec):
    """The type of an iterator over elements of a spec. A function is traced for the type, not for
    each iterator: the graph is given a number that stands for one."""

    def __init__(self, element_spec):
        self._element_spec = element_spec

    element_spec = property(lambda self: self._element_spec)
    value_type = property(lambda self: Iterator)
    trace_key = property(lambda self: ("iterator", repr(self._element_spec)))
    _component_specs = property(lambda self: (TensorSpec([], dtypes.int64),))

    def _serialize(self):
        return (self._element_spec,)

    def _to_components(self, value):
        return (value._number(),)

    def _from_components(self, components):
        return Iterator(None, self._element_spec, components[0])


def check_state_is_inside(dataset):
    """Raises if an iterator over it, once saved and restored, would not go on as it was."""
    policy = dataset.options().experimental_external_state_policy
    needs = None if policy in (ExternalStatePolicy.IGNORE, ExternalStatePolicy.WARN) else (
        dataset._state_outside()
    )  # fmt: skip
    if needs is not None:
        raise FailedPreconditionError(
            None, None,
            f"a function of the dataset is stateful: {needs} depends on what an iterator does not "
            "save. Use stateless random numbers, or set experimental_external_state_policy of the "
            "dataset's options to IGNORE",
        )  # fmt: skip


class Iterator(CompositeTensor):
    """The elements of a dataset, one after the other. Its buffers go with it."""

    def __init__(self, dataset, spec=None, number=None):
        self._dataset = dataset
        self._spec = dataset.element_spec if spec is None else spec
        self._iterator = None
        self._starting = threading.RLock()  # several threads may ask for the first element
        self._handle = number
        self._traced_elements = 0  # asked for while a graph was built

    @classmethod
    def of_each_run(cls, dataset):
        """In a graph: an iterator that each run starts anew and that goes with the run."""

        def start(*given):
            made, number = cls(run_time_dataset(dataset, given)), next(_numbers)
            _by_number[number] = made
            return owning_number(made, number)

        (handle,) = python_call(start, numbers_of(dataset), [(dtypes.int64, ())])
        return cls(None, dataset.element_spec, handle)

    element_spec = property(lambda self: self._spec)
    _type_spec = property(lambda self: IteratorSpec(self._spec))

    def _number(self):
        if self._handle is None:
            number = next(_numbers)
            _by_number[number] = self
            with lifted():
                self._handle = convert_to_tensor(number, dtype=dtypes.int64)
        return self._handle

    def _started(self):
        if self._dataset is None:
            return _by_number[int(self._handle)]._started()
        if self._iterator is None:
            with self._starting:
                if self._iterator is None:
                    self._iterator = self._dataset._handle.iterate()
        return self._iterator

    def __iter__(self):
        return self

    def __next__(self):
        if is_tracing():
            self._check_that_loops_are_staged()
            return self.get_next()
        tensors = self._started().next()
        if tensors is None:
            raise StopIteration
        return self._packed(tensors)

    next = __next__

    def _check_that_loops_are_staged(self):
        """Raises in a Python loop over a dataset that is not converted: nothing ends its trace."""
        from tidemark.autograph._context import Status, control_status_ctx  # only tracing needs it

        if control_status_ctx().status is Status.ENABLED:
            return
        self._traced_elements += 1
        if self._traced_elements > _MOST_TRACED_ELEMENTS:
            raise ValueError(
                "An unusually high number of `tf.data.Iterator.get_next()` calls was detected: "
                f"{self._traced_elements} in one trace. `for element in dataset` inside a "
                "tf.function without AutoGraph never ends, as the graph that is being built has no "
                "last element. Let AutoGraph convert the loop (autograph=True), use "
                "`dataset.reduce`, or loop outside of the function."
            )

    def _packed(self, tensors):
        return pack(self._spec, tensors)

    def get_next(self, name=None):
        """The next element; raises OutOfRangeError after the last."""
        if is_tracing():
            return self._packed(self._staged(take, types_of(self._spec)))
        return self._packed(take(self._started()))

    _next_internal = get_next  # the name that TensorFlow's tests of datasets call

    def get_next_as_optional(self):
        """The next element, or an optional without a value after the last."""
        if is_tracing():
            specs = flat_specs(self._spec)
            types = [(dtypes.bool, ()), *types_of(self._spec)]
            found, *tensors = self._staged(lambda taken: _take_if_any(taken, specs), types)
            return Optional(self._packed(tensors), self._spec, found)
        tensors = self._started().next()
        if tensors is None:
            return Optional.empty(self._spec)
        return Optional.from_value(self._packed(tensors))

    def next_if(self, wanted):
        """In a graph: whether there was an element and its tensors; none is taken unless wanted."""
        specs = flat_specs(self._spec)

        def take(taken, wanted):
            return _take_if_any(taken if wanted else None, specs)

        types = [(dtypes.bool, ()), *types_of(self._spec)]
        if self._dataset is not None:
            return python_call(lambda w: take(self._started(), w), [wanted], types)
        return python_call(
            lambda n, w: take(_by_number[int(n)]._started(), w), [self._handle, wanted], types
        )

    def packed(self, tensors):
        """An element of these tensors."""
        return self._packed(tensors)

    def _staged(self, take, types):
        """A node that takes from the iterator whenever the graph runs."""
        if self._dataset is not None:  # this very iterator, which the function closes over
            return python_call(lambda: take(self._started()), [], types)
        return python_call(lambda n: take(_by_number[int(n)]._started()), [self._handle], types)

    def save(self, path=None):
        """Where it stands, with all it keeps: bytes that ``restore`` takes."""
        if self._dataset is not None:
            check_state_is_inside(self._dataset)
        state = self._started().save()
        if path is None:
            return state
        working = f"{os.fspath(path)}.{os.getpid()}"
        with open(working, "wb") as file:
            file.write(state)
        os.replace(working, path)
        return path

    def restore(self, state):
        """Goes on where an iterator over an equal pipeline stood when it was saved."""
        if not isinstance(state, bytes):
            with open(state, "rb") as file:
                state = file.read()
        made = self._dataset._handle.iterate()
        made.restore(state)
        self._iterator = made


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


__all__ = ["Iterator", "IteratorSpec", "NumpyIterator"]
