"""State of optimizers shared out among workers: ``MultiWorkerMirroredStrategy(shard="optimizer")``.

Each variable that an optimizer keeps something about belongs to one worker, which keeps it, updates
the variable and sends it to the others. The results are those of workers that all do it.
"""

from __future__ import annotations

import contextlib

import tidemark
from tidemark.distribute._values import SyncOnReadVariable


class Shares:
    """Which variable belongs to which worker, and which were changed since all had them."""

    def __init__(self, strategy):
        self._strategy = strategy
        self._owner, self._bytes = {}, [0] * strategy.num_replicas_in_sync
        self._near = None  # the variable that is kept something about, while that is made
        self._changed, self._depth = [], 0
        self.is_updating = False

    @contextlib.contextmanager
    def near(self, variable):
        """What is made inside is kept about this variable."""
        outer, self._near = self._near, variable
        try:
            yield
        finally:
            self._near = outer

    def owner_of_new(self):
        """The worker to which what is being made belongs; None: to all."""
        variable = self._near
        if variable is None or not getattr(variable, "trainable", False):
            return None
        key = variable._unique_id
        if key not in self._owner:
            # Equal in the order of their making on all workers, so everybody finds the same.
            chosen = self._bytes.index(min(self._bytes))
            self._owner[key] = chosen
            self._bytes[chosen] += variable.shape.num_elements() * variable.dtype.size
        return self._owner[key]

    def owner_of(self, variable):
        return self._owner.get(getattr(variable, "_unique_id", None))

    def update(self, variable, owner, change):
        """The owner changes the variable; all have it at the end of the outermost `together`."""
        with self.together():
            if owner == self._strategy._rank:
                self.is_updating = True
                try:
                    change()
                finally:
                    self.is_updating = False
            if all(v is not variable for v in self._changed):
                self._changed.append(variable)

    @contextlib.contextmanager
    def together(self):
        self._depth += 1
        try:
            yield
            if self._depth == 1:
                self._send()
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._changed = []

    def _send(self):
        """The changed variables, those of one owner and dtype as one tensor."""
        packs = {}
        for variable in self._changed:
            key = (self._owner[variable._unique_id], variable.dtype.name)
            packs.setdefault(key, []).append(variable)
        for (owner, _), variables in sorted(packs.items(), key=lambda pack: pack[0]):
            flat = [tidemark.reshape(v.value(), [-1]) for v in variables]
            whole = tidemark.concat(flat, 0) if len(flat) > 1 else flat[0]
            whole = self._strategy._group.broadcast([whole], owner)
            if owner == self._strategy._rank:
                continue
            at = 0
            for variable in variables:
                count = variable.shape.num_elements()
                variable.assign(tidemark.reshape(whole[at : at + count], variable.shape))
                at += count


class OwnedVariable(SyncOnReadVariable):
    """Kept by one worker. Read or assigned outside of updates, by all workers together."""

    def __init__(self, strategy, owner, **kwargs):
        value = kwargs.pop("initial_value")
        value = value() if callable(value) else value
        value = tidemark.convert_to_tensor(value, kwargs.get("dtype"))
        self._strategy, self._owned_shape = strategy, value.shape
        self._owner = owner
        if not self._is_here:
            value = tidemark.zeros([0], value.dtype)
        super().__init__(1, initial_value=value, **kwargs)

    _is_here = property(lambda self: self._owner == self._strategy._rank)
    shape = property(lambda self: self._owned_shape)

    def _own(self):
        return self._first if self._is_here else None

    def value(self):
        if self._strategy._shares.is_updating:
            return self._first.value()
        known = self._first.value() if self._is_here else tidemark.zeros(self.shape, self.dtype)
        return self._strategy._group.broadcast([known], self._owner)

    read_value = value

    def assign(self, value, use_locking=False, name=None, read_value=True):
        if self._is_here:
            self._first.assign(value)
        return self

    def _change(self, how, delta):
        if self._is_here:
            how(self._first, delta)
        return self

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self._change(type(self._first).assign_add, delta)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self._change(type(self._first).assign_sub, delta)
