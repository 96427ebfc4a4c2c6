"""Variables of which each worker has a copy, and those of which each has its own."""

from __future__ import annotations

from tidemark import _tidemark
from tidemark._tensor.variable import Variable, VariableAggregation
from tidemark._tidemark import convert
from tidemark.distribute._values import SyncOnReadVariable

_REDUCED = (VariableAggregation.SUM, VariableAggregation.MEAN)


def is_put_together(kwargs):
    """Whether what replicas assign to a variable made with these arguments becomes one value."""
    return kwargs.get("aggregation") in (*_REDUCED, VariableAggregation.ONLY_FIRST_REPLICA)


def create(strategy, is_read, next_creator, kwargs):
    """A variable that begins with the first worker's value on all of them."""
    if is_read:
        return WorkerVariable(strategy, **kwargs)
    is_shared = is_put_together(kwargs)
    made = SharedVariable(strategy, **kwargs) if is_shared else next_creator(**kwargs)
    if not _tidemark.is_tracing() and made.dtype.name != "string":
        made.assign(strategy._from_first(made.value()))
    return made


class SharedVariable(Variable):
    """Alike on all workers: what replicas assign is put together first."""

    def __init__(self, strategy, **kwargs):
        Variable.__init__(self, **kwargs)
        self._strategy = strategy

    def _together(self, value):
        strategy = self._strategy
        if not strategy._is_in_replica():
            return value
        value = convert(value, self.dtype._enum)
        if self._aggregation in _REDUCED:
            return strategy._reduced(self._aggregation.name, [value])[0]
        return strategy._from_first(value)

    def assign(self, value, use_locking=False, name=None, read_value=True):
        return Variable.assign(self, self._together(value), read_value=read_value)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return Variable.assign_add(self, self._together(delta), read_value=read_value)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return Variable.assign_sub(self, self._together(delta), read_value=read_value)


class WorkerVariable(SyncOnReadVariable):
    """Each worker's own; read outside of replicas, that of all workers together, so that all of
    them have to read it."""

    def __init__(self, strategy, **kwargs):
        super().__init__(1, **kwargs)
        self._strategy = strategy

    def _own(self):
        return self._first if self._strategy._is_in_replica() else None

    def value(self):
        own = self._first.value()
        if self._strategy._is_in_replica():
            return own
        if self.aggregation in _REDUCED:
            return self._strategy._reduced(self.aggregation.name, [own])[0]
        if self.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return self._strategy._from_first(own)
        return own

    read_value = value

    def assign(self, value, use_locking=False, name=None, read_value=True):
        if self._own() is None and self.aggregation is VariableAggregation.SUM:
            count = self._strategy.num_replicas_in_sync
            dtype = self.dtype
            value = convert(value, dtype._enum)
            value = value / count if dtype.is_floating or dtype.is_complex else value // count
        self._first.assign(value)
        return self
