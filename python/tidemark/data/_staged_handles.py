"""Datasets that a graph makes when it runs: a tensor stands for each of them."""

from __future__ import annotations

from tidemark import _tidemark, dtypes
from tidemark._graph.staged import python_call
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import Tensor
from tidemark.errors import UnimplementedError


class StagedHandle:
    """A dataset inside of a graph: what is made of it is made when the graph runs."""

    def __init__(self, number):
        self._number = number

    def as_tensor(self):
        return self._number

    def iterate(self):
        raise UnimplementedError(
            None, None,
            "a dataset that a function makes when it runs cannot be gone over by the Python code "
            "that is being traced: loop over it in the function itself, or use reduce",
        )  # fmt: skip

    def cardinality(self):
        (count,) = python_call(
            lambda n: _tensor(_tidemark.dataset_from_tensor(n).cardinality()),
            [self._number], [(dtypes.int64, ())],
        )  # fmt: skip
        return count

    def __getattr__(self, name):
        return lambda *arguments: call(self, name, *arguments)


def _tensor(number):
    return convert_to_tensor(number, dtype=dtypes.int64)


def is_staged(value):
    """Whether only a run of the graph tells the value: a tensor or a dataset."""
    if isinstance(value, StagedHandle):
        return True
    return isinstance(value, Tensor) and _tidemark.is_symbolic(value)


class _Slot:
    """Where a value comes that the run tells."""

    def __init__(self, number, is_dataset):
        self.number, self.is_dataset = number, is_dataset


def known(value):
    """The value of a tensor of a graph that is a constant; anything else as it is."""
    if isinstance(value, list):
        return [known(item) for item in value]
    if not isinstance(value, Tensor) or not _tidemark.is_symbolic(value):
        return value
    found = _tidemark.static_value(value)
    return value if found is None else found


def _any_staged(value):
    if isinstance(value, list):
        return any(_any_staged(item) for item in value)
    return is_staged(value)


def _with_slots(value, inputs):
    if isinstance(value, list):
        return [_with_slots(item, inputs) for item in value]
    if not is_staged(value):
        return value
    is_dataset = isinstance(value, StagedHandle)
    inputs.append(value.as_tensor() if is_dataset else value)
    return _Slot(len(inputs) - 1, is_dataset)


def _filled(value, given):
    if isinstance(value, list):
        return [_filled(item, given) for item in value]
    if not isinstance(value, _Slot):
        return value
    tensor = given[value.number]
    return _tidemark.dataset_from_tensor(tensor) if value.is_dataset else tensor


def made(function, *arguments):
    """``function(*arguments)``, which gives a handle; at once, or when the graph runs where
    arguments (or items of lists among them) have their values only then."""
    given = known(list(arguments))
    if not _any_staged(given):
        return function(*given)
    inputs = []
    template = _with_slots(given, inputs)

    def run(*given):
        return function(*_filled(template, given)).as_tensor()

    (number,) = python_call(run, inputs, [(dtypes.int64, ())])
    return StagedHandle(number)


def call(handle, name, *arguments):
    """A method of a handle; tensors among the arguments are numbers that it takes."""

    def run(handle, *arguments):
        plain = (int(a) if isinstance(a, Tensor) else a for a in arguments)
        return getattr(handle, name)(*plain)

    return made(run, handle, *arguments)


def handle_of(number):
    """The dataset that a tensor stands for."""
    return StagedHandle(number) if is_staged(number) else _tidemark.dataset_from_tensor(number)
