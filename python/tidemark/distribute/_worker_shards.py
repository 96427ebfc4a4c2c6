"""What is kept about variables shared out among workers: ``MultiWorkerMirroredStrategy(shard=…)``.

Each worker keeps a part of what an optimizer keeps about each variable, and updates that part of
the variable. With ``shard="gradients"`` it has that part of the sum of gradients only, and with
``shard="parameters"`` that part of the variable itself. The results are those of workers that all
have everything.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import NamedTuple

import tidemark
from tidemark import _tidemark
from tidemark._graph.scopes import is_building_for_sessions
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tensor.variable import Variable
from tidemark._tidemark import Tensor, call, convert
from tidemark.distribute import _planning
from tidemark.distribute._values import ReadAsTensor
from tidemark.distribute._worker_parts import (
    KeptVariable,
    OwnedVariable,
    PartOfVariable,
    Parts,
    SharedPart,
    is_split,
)


class _Known(NamedTuple):
    """A variable that something may be shared out of."""

    name: str
    elements: int
    width: int  # bytes of an element


class Shares:
    """Which part of which variable belongs to which worker, and what is to be done to them."""

    def __init__(self, strategy):
        self._strategy = strategy
        # By id, in the order in which variables were made, or something was first kept about them.
        self._made, self._kept = {}, {}
        self._alone = []  # in a process on its own: (variable, weakly; whom it is kept about)
        self._found = {}  # by what is shared out and the number of workers: the parts
        self._near = None  # the variable that is kept something about, while that is made
        self._updates, self._depth = {}, 0
        _planning.strategies.add(strategy)

    @contextlib.contextmanager
    def near(self, variable):
        """What is made inside is kept about this variable."""
        outer, self._near = self._near, variable
        try:
            yield
        finally:
            self._near = outer

    def _know(self, variable, among):
        key = variable._unique_id
        if key not in among:
            shape = variable.shape
            among[key] = _Known(variable.name, shape.num_elements(), variable.dtype.size)
            self._found.clear()
        return key

    def parts_of(self, key):
        """How the variable is shared out; None: it is not."""
        shard, count = self._strategy._shard, self._strategy._group.size
        if shard is None or count == 1:
            return None
        if (shard, count) not in self._found:
            known = {**self._made, **self._kept} if shard == "parameters" else self._kept
            self._found[shard, count] = Parts.share_out(known, count)
        return self._found[shard, count].get(key)

    # --- making variables ---------------------------------------------------------------------

    def make_kept(self, kwargs):
        """A variable that is kept about the one that is near, where that may be shared out."""
        if not getattr(self._near, "trainable", False) or is_building_for_sessions():
            return None
        strategy, key = self._strategy, self._know(self._near, self._kept)
        if strategy._joined.size == 1:
            made = type.__call__(KeptVariable, **kwargs)
            self._alone.append((weakref.ref(made), key))
            return made
        if strategy._made_with is None:
            return None
        value = _value_of(kwargs)
        parts = self._parts_kept(key, value.shape.num_elements())
        return None if parts is None else OwnedVariable(strategy, parts, value, True, kwargs)

    def _parts_kept(self, key, elements):
        """Single values about a variable in parts are on all workers."""
        parts = self.parts_of(key)
        if parts is None or (parts.is_split and elements == 1):
            return None
        return parts.about(elements)

    def make_in_parts(self, kwargs):
        """A variable that is trained, if this worker is to keep a part of it."""
        strategy = self._strategy
        if strategy._made_with != "parameters" or strategy._joined.size == 1:
            return None
        if kwargs.get("trainable") is False or _tidemark.is_tracing():
            return None
        value = kwargs["initial_value"] = _value_of(kwargs)
        elements, width = value.shape.num_elements(), value.dtype.size
        if not is_split(elements * width):
            return None
        parts = Parts.evenly(kwargs.get("name") or "Variable", elements, strategy._group.size)
        return OwnedVariable(strategy, parts, strategy._from_first(value), False, kwargs)

    def note(self, made):
        """A variable has been made."""
        if getattr(made, "trainable", False) and made.shape.is_fully_defined():
            self._know(made, self._made)
            if self._strategy._joined.size == 1 and type(made) is Variable:
                self._alone.append((weakref.ref(made), None))
        return made

    def stand_ins(self):
        """For the imagined worker: by its id, each variable that would be shared out."""
        self._alone = [(one, key) for one, key in self._alone if one() is not None]
        found = {}
        for one, key in self._alone:
            variable = one()
            if variable is None:
                continue
            elements = variable.shape.num_elements()
            if key is not None:
                parts = self._parts_kept(key, elements)
            elif self._strategy._shard == "parameters" and is_split(elements * variable.dtype.size):
                parts = self.parts_of(variable._unique_id)
            else:
                parts = None
            if parts is not None:
                found[variable._id] = parts.stand_in(self._strategy, variable)
        return found

    def _shared_out(self, variable):
        """What the variable is where it is shared out itself; else None."""
        if isinstance(variable, OwnedVariable):
            return variable._told
        worker = _planning.current()
        return None if worker is None else worker.shared.get(getattr(variable, "_id", None))

    # --- updates ------------------------------------------------------------------------------

    def update(self, variable, fn, args, kwargs):
        """Each worker calls ``fn(its part, …)``; all have what comes of it at the end of the
        outermost `together`. False: the variable is not shared out."""
        if getattr(variable, "is_kept", False) and self._shared_out(variable):
            raise tidemark.errors.UnimplementedError(
                None, None, f"{variable.name} adds up what each worker has, and with shard=… it is "
                "in parts on all of them: leave out gradient_accumulation_steps, or shard",
            )  # fmt: skip
        parts = self.parts_of(getattr(variable, "_unique_id", None))
        if parts is None:
            return False
        with self.together():
            update = self._updates.setdefault(id(variable), _Update(self, variable, parts))
            update.calls.append((fn, args, kwargs))
        return True

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
        for update in updates:
            update.look()
        self._reduce([(s, update) for update in updates for s in update.sums()])
        changed = [update for update in updates if update.run()]
        if changed:
            self._gather(changed)

    def _reduce(self, sums):
        """``sums``: (sum of gradients, the update that needs it)."""
        sums = [(one, update) for one, update in sums if not one.is_known]
        if not sums:
            return
        found = self._strategy._group.reduce(
            [_of_shape(one.local, update.variable.shape) for one, update in sums],
            [update.parts.bounds for _, update in sums],
            of=_names(update.parts for _, update in sums),
        )
        for (one, _), value in zip(sums, found, strict=True):
            one.settle(value)

    def _gather(self, updates):
        """What each worker made of its part, to all of them."""
        values = self._strategy._group.gather(
            [update.part for update in updates],
            [update.parts.bounds for update in updates],
            [update.variable.shape for update in updates],
            of=_names(update.parts for update in updates),
        )
        for update, value in zip(updates, values, strict=True):
            if update.parts.is_split or not update.parts.is_whole(self._strategy._rank):
                update.variable.assign(value)


def _value_of(kwargs):
    value = kwargs["initial_value"]
    if callable(value) and not isinstance(value, (_tidemark.VariableBase, Tensor)):
        value = value()
    return tidemark.convert_to_tensor(value, kwargs.get("dtype"))


def _of_shape(tensor, shape):
    if tensor.shape.is_fully_defined():
        return tensor
    return call("reshape", (tensor, shape.as_list()), {})


def _names(parts):
    return ", ".join(one.name for one in parts)


@contextlib.contextmanager
def _parts_shown():
    """A context in which variables that are shared out show this worker's part."""
    scope = _tidemark.PartsShown()
    scope.enter()
    try:
        yield
    finally:
        scope.exit()


class _Update:
    """What is to be done to one variable."""

    def __init__(self, shares, variable, parts):
        self._shares, self.variable, self.parts, self.calls = shares, variable, parts, []
        self._rank = shares._strategy._rank
        self._in_parts = True
        self.part = None  # what this worker made of its own, once the others have to know

    def sums(self):
        """Those that are needed in parts."""
        if self._in_parts:
            for _, args, _ in self.calls:
                yield from (a for a in args if isinstance(a, GradientSum))

    def look(self):
        """Whether each element of the result comes of the elements at its place, so that each
        worker may do its part: it is traced once to be looked at."""
        if not self.parts.is_split:
            return
        builder = _tidemark.GraphBuilder("update")
        count, dtype = self.parts.count(self._rank), self.variable.dtype
        builder.enter()
        try:
            view = PartOfVariable(self.variable, builder.add_input(dtype, [count]))
            for fn, args, kwargs in self.calls:
                given = [
                    builder.add_input(a.dtype, [count]) if self._is_like_variable(a) else a
                    for a in args
                ]
                with _parts_shown():
                    self._call(fn, view, given, kwargs)
            self._in_parts = builder.works_on_elements([view.value()], count)
        except Exception:  # of a vector it may not be; if it fails on the whole, too, that is told
            self._in_parts = False
        finally:
            builder.exit()

    def _is_like_variable(self, given):
        if isinstance(given, GradientSum):
            return True
        if not isinstance(given, (Tensor, IndexedSlices)):
            return False
        # Loops and branches do not tell the shape of every gradient.
        return not given.shape.is_fully_defined() or given.shape == self.variable.shape

    def run(self):
        """Whether others have to be told of this worker's part."""
        shared = self._shares._shared_out(self.variable)
        count = self.parts.count(self._rank)
        if not self._in_parts:
            self._run_on(self.variable, convert)
        elif shared is not None:
            with _parts_shown():
                self._run_on(SharedPart(self.variable, shared, count), self._own)
        else:
            view = self.variable
            if self.parts.is_split:
                view = PartOfVariable(view, self.parts.own(view.value(), self._rank))
            if count or not self.parts.bounds[-1]:
                with _parts_shown():
                    self._run_on(view, self._own)
            is_part = self.parts.is_split
            self.part = view.value() if is_part else self.parts.own(view.value(), self._rank)
        return self.part is not None

    def _run_on(self, view, given):
        for fn, args, kwargs in self.calls:
            args = [given(a) if self._is_like_variable(a) else a for a in args]
            self._call(fn, view, args, kwargs)

    def _own(self, argument):
        """This worker's part; all of it as it is."""
        if isinstance(argument, GradientSum) and argument.is_in_parts:
            part = argument.part
        elif not self.parts.is_split:
            return convert(argument)
        else:
            return self.parts.own(convert(argument), self._rank)
        is_whole = not self.parts.is_split
        return call("reshape", (part, self.variable.shape.as_list()), {}) if is_whole else part

    def _call(self, fn, view, args, kwargs):
        strategy = self._shares._strategy
        strategy._enter(None)
        try:
            fn(view, *args, **kwargs)
        finally:
            strategy._exit()


class GradientSum(ReadAsTensor):
    """The sum of what all workers have, made when it is known who needs it: an update of a variable
    needs each part of it on one worker only. Whatever else reads it has all workers get all sums
    that were asked for with it."""

    def __init__(self, strategy, local, together):
        self._strategy, self.local, self._together = strategy, local, together
        self._value = self.part = None
        together.append(self)

    dtype = property(lambda self: self.local.dtype)
    shape = property(lambda self: self.local.shape)
    is_known = property(lambda self: self._value is not None or self.is_in_parts)
    is_in_parts = property(lambda self: self.part is not None)

    def settle(self, part):
        self.part, self.local = part, _Like(self.local)

    def value(self):
        if not self.is_known:
            waiting = [one for one in self._together if not one.is_known]
            sums = self._strategy._reduced("SUM", [one.local for one in waiting])
            for one, value in zip(waiting, sums, strict=True):
                one._value, one.local = value, _Like(one.local)
        if self._value is None:
            raise tidemark.errors.FailedPreconditionError(
                None, None, "the sum of this gradient is in parts, each on the worker that updates "
                f'that part of its variable (shard="{self._strategy._shard}"); read it before the '
                "optimizer updates the variable",
            )  # fmt: skip
        return self._value


class _Like:
    """What is left of a tensor that is not needed any more."""

    def __init__(self, tensor):
        self.dtype, self.shape = tensor.dtype, tensor.shape
