"""Iterators over datasets in graphs: every session goes through the elements by itself.

iterator = tf.compat.v1.data.make_one_shot_iterator(dataset)
x, y = iterator.get_next()
sess.run([x, y])                    # the next element, each time
"""

from __future__ import annotations

import itertools
import threading
import weakref

from tidemark import _tidemark, dtypes, nest
from tidemark._graph.python_functions import GraphStep
from tidemark._graph.staged import python_call
from tidemark._graph.tracing import lifted
from tidemark._tensor.specs import TensorSpec
from tidemark._v1 import session
from tidemark._v1.graph import current_place
from tidemark.data import Dataset
from tidemark.data import Iterator as EagerIterator
from tidemark.data._elements import pack
from tidemark.data._iterator import (
    check_state_is_inside,
    numbers_of,
    run_time_dataset,
    take,
    types_of,
)
from tidemark.errors import FailedPreconditionError, InvalidArgumentError, ValueUnknownError
from tidemark.tensor_shape import TensorShape

_numbers = itertools.count(1)
_by_handle = weakref.WeakValueDictionary()  # what string handles stand for


def _of_leaves(spec, function):
    return nest.map_structure(function, spec)


def output_types(spec):
    return _of_leaves(spec, lambda leaf: getattr(leaf, "dtype", leaf))


def output_shapes(spec):
    return _of_leaves(spec, lambda leaf: getattr(leaf, "shape", leaf))


def output_classes(spec):
    return _of_leaves(spec, lambda leaf: leaf.value_type if hasattr(leaf, "shape") else leaf)


def _spec_of(types, shapes, classes):
    if classes is not None and any(
        getattr(kind, "__name__", "") != "Tensor" for kind in nest.flatten(classes)
    ):
        raise InvalidArgumentError(
            None, None, "iterators made from a structure give dense tensors; use the dataset itself"
        )
    if shapes is None:
        return _of_leaves(types, lambda dtype: TensorSpec(None, dtype))
    flat = [TensorShape(shape) for shape in nest.flatten_up_to(types, shapes)]
    pairs = zip(nest.flatten(types), flat, strict=True)
    return nest.pack_sequence_as(types, [TensorSpec(shape, dtype) for dtype, shape in pairs])


def _fresh_name():
    """What a new iterator is called in the graph being built, as TensorFlow's operation is."""
    place = current_place()
    return "IteratorV2" if place is None else place.graph.unique_name("IteratorV2")


class Iterator:
    """The elements of a dataset in a graph, one after the other in each session."""

    def __init__(self, spec, dataset=None, starts_by_itself=False, name=None):
        self._spec, self._dataset, self._starts_by_itself = spec, dataset, starts_by_itself
        self.name = name or _fresh_name()
        self._started_over = []  # datasets that operations start it over
        self._running = weakref.WeakKeyDictionary()  # session → where it stands
        self._starting = threading.RLock()  # several threads may run the first step
        self._initializer = None if dataset is None else self.make_initializer(dataset)

    element_spec = property(lambda self: self._spec)
    dataset = property(lambda self: self._dataset)
    starts_by_itself = property(lambda self: self._starts_by_itself)
    output_types = property(lambda self: output_types(self._spec))
    output_shapes = property(lambda self: output_shapes(self._spec))
    output_classes = property(lambda self: output_classes(self._spec))

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator over elements of this kind; ``make_initializer`` says of which dataset."""
        return Iterator(_spec_of(output_types, output_shapes, output_classes))

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        """An iterator that is, in each run, the one whose handle is fed."""
        return _FedIterator(string_handle, _spec_of(output_types, output_shapes, output_classes))

    @property
    def initializer(self):
        """The operation that starts it."""
        if self._initializer is None or self._starts_by_itself:
            raise ValueError("The iterator does not have an initializer. Consider using "
                             "`make_initializable_iterator`.")  # fmt: skip
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """An operation that starts it over the dataset."""
        if output_types(dataset.element_spec) != output_types(self._spec):
            raise TypeError(
                f"Expected output types {output_types(self._spec)!r} but got dataset with output "
                f"types {output_types(dataset.element_spec)!r}."
            )

        self._started_over.append(dataset)
        return python_call(_Start(self, dataset), numbers_of(dataset), [(dtypes.bool, ())])[0].op

    def datasets(self):
        """Those that it may go over, as far as operations of its own say."""
        by_itself = [self._dataset] if self._starts_by_itself else []
        return [*self._started_over, *by_itself]

    def start(self, dataset):
        """Begins with the first element in the session whose run this is."""
        self._running[session.running()] = dataset._handle.iterate()

    def _current(self):
        """Where the session whose run this is stands."""
        found = self._running.get(session.running())
        if found is None and self._starts_by_itself:
            with self._starting:
                found = self._running.get(session.running())
                if found is None:
                    found = self._running[session.running()] = self._dataset._handle.iterate()
        if found is None:
            raise FailedPreconditionError(
                None, None,
                "GetNext() failed because the iterator has not been initialized. Ensure that you "
                "have run the initializer operation for this iterator before getting the next "
                "element.",
            )  # fmt: skip
        return found

    def get_next(self, name=None):
        """The next element, whenever it runs; OutOfRangeError after the last."""
        return pack(self._spec, python_call(_Next(self), [], types_of(self._spec)))

    def take(self):
        """The tensors of the next element in the session whose run this is."""
        return take(self._current())

    def _save(self, session_):
        """Where it stands in a session, as bytes."""
        if self._dataset is not None:
            check_state_is_inside(self._dataset)
        return self._place_in(session_).save()

    def _restore(self, session_, state):
        """Goes on in a session where it stood when it was saved."""
        self._place_in(session_).restore(state)

    def _place_in(self, session_):
        found = self._running.get(session_)
        if found is None and len(self.datasets()) == 1 and not numbers_of(self.datasets()[0]):
            found = self._running[session_] = self.datasets()[0]._handle.iterate()
        if found is None:
            raise FailedPreconditionError(
                None, None, "the iterator has not been initialized in this session: run its "
                "initializer before it is saved or restored",
            )  # fmt: skip
        return found

    def string_handle(self, name=None):
        """What stands for it in feeds."""
        handle = self._known()

        def tell():  # the operation keeps the iterator
            _by_handle[handle] = self
            return handle

        return python_call(tell, [], [(dtypes.string, ())])[0]

    def _known(self):
        """A new name under which it is found while it lives."""
        handle = f"{self.name} {next(_numbers)}"
        _by_handle[handle] = self
        return handle


class _Start(GraphStep):
    """Starts an iterator over a dataset."""

    def __init__(self, iterator, dataset):
        self._iterator, self._dataset = iterator, dataset

    def __call__(self, *given):
        self._iterator.start(run_time_dataset(self._dataset, given))
        return True

    def write(self, writer, node, label):
        from tidemark._v1.graph_def import dataset_nodes  # few programs write their graphs

        return dataset_nodes.write_start(self._iterator, self._dataset, writer, node, label)


class _Next(GraphStep):
    """Takes an element of an iterator."""

    def __init__(self, iterator):
        self._iterator = iterator

    def __call__(self):
        return self._iterator.take()

    def write(self, writer, node, label):
        from tidemark._v1.graph_def import dataset_nodes  # few programs write their graphs

        return dataset_nodes.write_next(self._iterator, writer, node, label)


class _FedIterator(Iterator):
    """The iterator whose handle is given when the graph runs."""

    def __init__(self, handle, spec):
        super().__init__(spec)
        self._handle = handle

    def get_next(self, name=None):
        def next_of(handle):
            found = _by_handle.get(handle.numpy().decode())
            if found is None:
                raise InvalidArgumentError(None, None, "the handle stands for no iterator")
            return take(found._current())

        return pack(self._spec, python_call(next_of, [self._handle], types_of(self._spec)))


def _checked(dataset):
    if not isinstance(dataset, Dataset):
        raise TypeError(f"iterators go over a tf.data.Dataset; {type(dataset).__name__} was given")
    return dataset


def make_one_shot_iterator(dataset):
    """An iterator that every session starts by itself; it goes over the elements once."""
    if not _tidemark.is_tracing():
        return EagerIterator(_checked(dataset))
    given = numbers_of(_checked(dataset))
    if given:
        dataset = _made_of_constants(dataset, given)
    return Iterator(dataset.element_spec, dataset, starts_by_itself=True)


def _made_of_constants(dataset, given):
    """The dataset that constants of the graph decide about."""
    try:
        with lifted():
            return run_time_dataset(dataset, [_tidemark.evaluate(one) for one in given])
    except (InvalidArgumentError, FailedPreconditionError, ValueUnknownError) as error:
        raise ValueError(
            "Cannot capture a placeholder (or a variable of the graph) by a one-shot iterator: use "
            "make_initializable_iterator."
        ) from error


class IteratorSaveable:
    """Where an iterator stands, as a ``Saver`` writes it beside the variables."""

    def __init__(self, iterator, handle=None):
        self._iterator = iterator
        self.handle = handle or iterator._known()
        self.name = self.handle.partition(" ")[0]

    @staticmethod
    def with_handle(handle):
        """Of the iterator with this handle; None if it has gone."""
        iterator = _by_handle.get(handle)
        return None if iterator is None else IteratorSaveable(iterator, handle)

    def value_in(self, session_):
        return self._iterator._save(session_)

    def load(self, value, session_):
        self._iterator._restore(session_, value)


def make_saveable_from_iterator(iterator, external_state_policy=None):
    """What a ``Saver`` saves of an iterator, once it is in the collection ``SAVEABLE_OBJECTS``."""
    if not isinstance(iterator, Iterator):
        raise TypeError(
            f"an iterator of a graph was expected, got {type(iterator).__name__}: eagerly, "
            "tf.train.Checkpoint(iterator=iterator) saves one"
        )
    return IteratorSaveable(iterator)


def make_initializable_iterator(dataset, shared_name=None):
    """An iterator that goes over the dataset whenever its ``initializer`` has run."""
    if not _tidemark.is_tracing():
        raise RuntimeError(
            "dataset.make_initializable_iterator is not supported when eager execution is enabled. "
            "Use `for element in dataset` instead."
        )
    return Iterator(_checked(dataset).element_spec, dataset)
