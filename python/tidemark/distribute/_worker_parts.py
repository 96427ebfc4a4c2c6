"""Variables of which each worker keeps a part."""

from __future__ import annotations

from typing import NamedTuple

import tidemark
from tidemark import _tidemark
from tidemark._tensor import variable as variables
from tidemark._tensor.variable import Variable
from tidemark._tidemark import call, convert
from tidemark.distribute import _planning
from tidemark.distribute._values import ReadAsTensor, SyncOnReadVariable

_WHOLE = 16 << 10  # variables of no more bytes are not taken apart: they are sent in one message


def is_split(size):
    """Whether a variable of so many bytes is taken apart."""
    return size > _WHOLE


class Parts(NamedTuple):
    """How the elements of a variable are shared out: those of worker r are from ``bounds[r]`` to
    ``bounds[r + 1]``, in the order in which they lie in memory."""

    name: str  # of the variable
    bounds: list
    is_split: bool  # else they are all on one worker

    @staticmethod
    def evenly(name, elements, workers):
        return Parts(name, [elements * rank // workers for rank in range(workers + 1)], True)

    @staticmethod
    def of_one(name, elements, workers, owner):
        return Parts(name, [0] * (owner + 1) + [elements] * (workers - owner), False)

    @staticmethod
    def share_out(known, workers):
        """``known``: variables by their keys, in an order that is the same on all workers; so
        everybody finds the same, and what is found does not change when more come."""
        bytes_of, found = [0] * workers, {}
        for key, one in known.items():
            if is_split(one.elements * one.width):
                found[key] = Parts.evenly(one.name, one.elements, workers)
            else:
                owner = bytes_of.index(min(bytes_of))
                found[key] = Parts.of_one(one.name, one.elements, workers, owner)
            for rank in range(workers):
                bytes_of[rank] += found[key].count(rank) * one.width
        return found

    def about(self, elements):
        """The same of what is kept about the variable, which may be of another size."""
        workers = len(self.bounds) - 1
        if elements == self.bounds[-1]:
            return self
        if self.is_split:
            return Parts.evenly(self.name, elements, workers)
        owner = self.bounds.count(0) - 1 if self.bounds[-1] else 0
        return Parts.of_one(self.name, elements, workers, owner)

    def count(self, rank):
        return self.bounds[rank + 1] - self.bounds[rank]

    def is_whole(self, rank):
        return self.count(rank) == self.bounds[-1]

    def own(self, whole, rank):
        """The worker's part of a tensor like the variable, as a vector."""
        flat = call("reshape", (whole, [-1]), {})
        if self.is_whole(rank):
            return flat
        return call("slice", (flat, [self.bounds[rank]], [self.count(rank)]), {})

    def stand_in(self, strategy, variable):
        """For plans, what programs would take for the variable, of which a worker has its part."""
        zeros = tidemark.zeros([self.count(strategy._rank)], variable.dtype)
        part = type.__call__(Variable, initial_value=zeros, trainable=False)
        return _tidemark.SharedOut(
            strategy._group, part, self.bounds, variable.shape, self.name, variable._id
        )


class PartOfVariable(ReadAsTensor):
    """Stands for a variable where this worker updates its part: what it will be is here until the
    others have to know."""

    is_replicated_variable = True  # an instance of tf.Variable, as far as that can be asked

    def __init__(self, variable, part):
        self._variable, self._value = variable, part

    name = property(lambda self: self._variable.name)
    dtype = property(lambda self: self._variable.dtype)
    shape = property(lambda self: self._value.shape)
    trainable = property(lambda self: self._variable.trainable)
    _unique_id = property(lambda self: self._variable._unique_id)

    def value(self):
        return self._value

    read_value = value

    def _become(self, value):
        self._value = value
        return self

    def assign(self, value, use_locking=False, name=None, read_value=True):
        return self._become(convert(value, self.dtype._enum))

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self._become(self._value + convert(delta, self.dtype._enum))

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self._become(self._value - convert(delta, self.dtype._enum))


class _SharedOut:
    """Reading and updating what is shared out, by what ``_told`` gives."""

    def value(self):
        return self._told.value()

    read_value = value

    def _become(self, op, value):
        value = convert(value, self.dtype._enum, None, False)
        self._told.update(op, [value])
        return self

    def assign(self, value, use_locking=False, name=None, read_value=True):
        return self._become(None, value)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self._become("add", delta)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self._become("subtract", delta)


class SharedPart(_SharedOut, PartOfVariable):
    """The same for a variable that is shared out itself: the others need not know."""

    def __init__(self, variable, shared, count):
        super().__init__(variable, None)
        self._told, self._count = shared, count

    shape = property(lambda self: tidemark.TensorShape([self._count]))


class OwnedVariable(_SharedOut, SyncOnReadVariable):
    """Of which this worker keeps a part. Read outside of updates, by all workers together."""

    def __init__(self, strategy, parts, value, is_kept, kwargs):
        """``is_kept``: about another one."""
        self._whole_shape, self.is_kept = value.shape, is_kept
        # Where the part shares the memory of the whole, that would stay.
        own = call("concat", ([parts.own(value, strategy._rank)],), {"axis": 0})
        super().__init__(1, **{**kwargs, "initial_value": own, "shape": None})
        self._told = _tidemark.SharedOut(
            strategy._group, self._first, parts.bounds, value.shape, parts.name
        )
        variables._by_id[self._first._id] = self

    shape = property(lambda self: self._whole_shape)
    synchronization = property(lambda self: self._first.synchronization)


class KeptVariable(Variable):
    """Kept about another one, by a process on its own, which may plan for workers that would share
    it out."""

    is_kept = True

    def _stand_in(self):
        worker = _planning.current()
        return None if worker is None else worker.shared.get(self._id)

    def _become(self, usual, op, value):
        shared = self._stand_in()
        if shared is None:
            usual(self, value)
        else:
            shared.update(op, [convert(value, self.dtype._enum, None, False)])
        return self

    def assign(self, value, use_locking=False, name=None, read_value=True):
        return self._become(Variable.assign, None, value)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self._become(Variable.assign_add, "add", delta)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self._become(Variable.assign_sub, "subtract", delta)
