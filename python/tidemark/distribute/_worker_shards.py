"""What is kept about variables shared out among workers: ``MultiWorkerMirroredStrategy(shard=…)``.

Each variable that an optimizer keeps something about belongs to one worker, which keeps it, updates
the variable and sends it to the others. With ``shard="gradients"`` the sum of its gradients is
on that worker only, too. The results are those of workers that all do it.
"""

from __future__ import annotations

import contextlib

import tidemark
from tidemark.distribute._values import ReadAsTensor, SyncOnReadVariable


class Shares:
    """Which variable belongs to which worker, and what is to be done to them."""

    def __init__(self, strategy):
        self._strategy = strategy
        self._sizes = {}  # by id, in the order in which something was first kept about them
        self._known = {}  # by the number of workers: who owns what
        self._near = None  # the variable that is kept something about, while that is made
        self._updates, self._depth = {}, 0
        self.is_updating = False

    @contextlib.contextmanager
    def near(self, variable):
        """What is made inside is kept about this variable."""
        outer, self._near = self._near, variable
        try:
            yield
        finally:
            self._near = outer

    def key_of_near(self):
        """Of the variable, if it is trained, that what is being made is kept about; or None."""
        if not getattr(self._near, "trainable", False):
            return None
        self.own(self._near)
        return self._near._unique_id

    def own(self, variable):
        """From now on the variable belongs to one worker."""
        if variable._unique_id not in self._sizes:
            size = variable.shape.num_elements() * variable.dtype.size
            self._sizes[variable._unique_id] = size
            self._known.clear()

    def owner_of(self, key, count):
        """None: the variable belongs to all."""
        return self._owners(count).get(key)

    def _owners(self, count):
        """Variables are made in one order on all workers, so everybody finds the same."""
        if count not in self._known:
            bytes_of, owners = [0] * count, {}
            for key, size in self._sizes.items():
                owners[key] = bytes_of.index(min(bytes_of))
                bytes_of[owners[key]] += size
            self._known[count] = owners
        return self._known[count]

    # --- updates ------------------------------------------------------------------------------

    def update(self, variable, owner, fn, args, kwargs):
        """The owner calls ``fn(variable, …)``; all have what comes of it at the end of the
        outermost `together`."""
        if isinstance(variable, OwnedVariable):
            raise tidemark.errors.UnimplementedError(
                None, None, f"{variable.name} adds up what each worker has, and with shard=… it is "
                "on one worker only: leave out gradient_accumulation_steps, or shard",
            )  # fmt: skip
        with self.together():
            update = self._updates.setdefault(id(variable), _Update(variable, owner))
            update.calls.append((fn, args, kwargs))

    @contextlib.contextmanager
    def together(self):
        self._depth += 1
        try:
            yield
            if self._depth == 1:
                self._settle()
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._updates = {}

    def _settle(self):
        """The last variables first: backward has their gradients first, and each bucket's are
        let go of before the next one's are needed."""
        while self._updates:  # an update may ask for more of them
            updates, self._updates = list(self._updates.values()), {}
            for bucket in self._strategy._buckets(updates, lambda update: update.variable):
                self._settle_together(bucket)

    def _settle_together(self, updates):
        strategy = self._strategy
        self._reduce([s for update in updates for s in update.sums()])
        for update in updates:
            if update.owner == strategy._rank:
                self._call(update)
        values = [update.variable.value() for update in updates]
        values = strategy._group.spread(values, [update.owner for update in updates])
        for update, value in zip(updates, values, strict=True):
            if update.owner != strategy._rank:
                update.variable.assign(value)

    def _reduce(self, owned):
        """``owned``: (sum of gradients, the worker on which it is needed)."""
        owned = [(one, owner) for one, owner in owned if not one.is_known]
        if not owned:
            return
        given = [one.local for one, _ in owned]
        found = self._strategy._group.reduce(given, [owner for _, owner in owned])
        for (one, owner), value in zip(owned, found, strict=True):
            one.settle(value if owner == self._strategy._rank else None)

    def _call(self, update):
        self.is_updating = True
        self._strategy._enter(None)
        try:
            for fn, args, kwargs in update.calls:
                args = [a.value() if isinstance(a, GradientSum) else a for a in args]
                fn(update.variable, *args, **kwargs)
        finally:
            self._strategy._exit()
            self.is_updating = False


class _Update:
    """What is to be done to one variable."""

    def __init__(self, variable, owner):
        self.variable, self.owner, self.calls = variable, owner, []

    def sums(self):
        for _, args, _ in self.calls:
            yield from ((a, self.owner) for a in args if isinstance(a, GradientSum))


class GradientSum(ReadAsTensor):
    """The sum of what all workers have, made when it is known who needs it: an update of a variable
    needs it on the variable's owner only. Whatever else reads it has all workers get all sums that
    were asked for with it."""

    def __init__(self, strategy, local, together):
        self._strategy, self.local, self._together = strategy, local, together
        self._value = None
        self.is_known = False
        together.append(self)

    dtype = property(lambda self: self.local.dtype)
    shape = property(lambda self: self.local.shape)

    def settle(self, value):
        self._value, self.is_known, self.local = value, True, _Like(self.local)

    def value(self):
        if not self.is_known:
            waiting = [one for one in self._together if not one.is_known]
            sums = self._strategy._reduced("SUM", [one.local for one in waiting])
            for one, value in zip(waiting, sums, strict=True):
                one.settle(value)
        if self._value is None:
            raise tidemark.errors.FailedPreconditionError(
                None, None, "the sum of this gradient is on the worker that owns its variable only "
                '(shard="gradients"); read it before the optimizer updates the variable',
            )  # fmt: skip
        return self._value


class _Like:
    """What is left of a tensor that is not needed any more."""

    def __init__(self, tensor):
        self.dtype, self.shape = tensor.dtype, tensor.shape


class OwnedVariable(SyncOnReadVariable):
    """Kept by one worker. Read or assigned outside of updates, by all workers together."""

    def __init__(self, strategy, key, **kwargs):
        """``key``: of the variable that it is kept about."""
        value = kwargs.pop("initial_value")
        value = value() if callable(value) else value
        value = tidemark.convert_to_tensor(value, kwargs.get("dtype"))
        self._strategy, self._owned_shape = strategy, value.shape
        self._owner = strategy._shares.owner_of(key, strategy.num_replicas_in_sync)
        if not self._is_here:
            value = tidemark.zeros([0], value.dtype)
        super().__init__(1, initial_value=value, **kwargs)

    _is_here = property(lambda self: self._owner == self._strategy._rank)
    shape = property(lambda self: self._owned_shape)

    def _own(self):
        return self._first if self._is_here else None

    def value(self):
        own = self._first.value()
        if self._strategy._shares.is_updating:
            return own
        return self._strategy._group.fetch([own], self._owner, self.shape)

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
