"""What every house call does: lines and sizes of tensors as they are made, weak references that
tell when they go, and now and then a walk over the program's objects that tells who keeps them.

A library's own visitor says which types there are and calls ``made`` from a hook of the library.
"""

from __future__ import annotations

import dataclasses
import functools
import gc
import itertools
import os
import resource
import sys
import threading
import time
import types
import weakref
from collections import Counter, deque

import numpy as np

from tidemark._explain import findings, growth, kinds, links, page, rules
from tidemark._explain.additions import Additions
from tidemark._explain.keeping import Holder, Owner, Way
from tidemark._explain.seen import Run, Seen
from tidemark._house.accounts import Accounts
from tidemark._house.lines import Lines
from tidemark._house.walking import walk

_SHARE = 0.1  # of the time, for looks
_FIRST_LOOK = 16  # ops
_FEWEST_IN_CYCLES = 4  # tensors of a line
_MOST_CYCLE_LOOKS = 6
_LARGE_ARRAY = 1024  # bytes; smaller ones are what a program prints
_PILED_UP = 5  # objects of one sort that one container gained


class Made(weakref.ref):
    """A tensor that was seen to be made. It is put into a queue when the tensor goes."""

    __slots__ = ("key", "size", "number", "memory")

    def __init__(self, tensor, gone):
        super().__init__(tensor, gone)
        self.number = id(tensor)
        self.memory = None  # where it lies, if the library says so: others may lie there, too


def resident():
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm") as opened:
        return int(opened.read().split()[1]) * resource.getpagesize()


def _memory_of_machine():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def users_frame():
    """The innermost frame of the program's own; None."""
    frame = sys._getframe(1)
    while frame is not None and not links.is_programs(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


@functools.lru_cache(maxsize=4096)
def _place(code, line):
    where = f"{os.path.basename(code.co_filename)}:{line}"
    return where if code.co_name == "<module>" else f"{where} in {code.co_name}"


def place_of(frame):
    """train.py:12 in step"""
    return _place(frame.f_code, frame.f_lineno)


class Visitor:
    """Around a program: ``start()``, the program, ``result()``."""

    library = ""
    not_seen = ""
    keepers: tuple = ("tape",)  # of the piles, those that keep values which the program made
    plurals: dict = {}  # sort → what many of them are called, where an s does not do
    fewest: dict = {}  # sort → how many more there must be, where it is not a few
    piles: dict = {}  # sort of object → rule, title, fix: where more and more of them are kept

    number = "float({})"  # how the library makes a number of a tensor

    def __init__(self, tensors, variables, functions, sorts):
        """``sorts``: {type: sort} of objects that keep memory which cannot be seen."""
        kinds.know(tensors, variables, functions, self.number)
        self._sorts = sorts
        self._wanted = (*tensors, *variables, *sorts, np.ndarray)
        self._accounts = Accounts()
        self._seen = Seen(additions=Additions(Lines(lambda: len(self._threads_seen) < 2)))
        self._made, self._gone = {}, deque()
        self._threads_seen = set()  # that ran ops for the program
        self._traces, self._last_arguments = [], {}
        self._numbers, self._count = weakref.WeakKeyDictionary(), itertools.count(1)
        self._runs, self._nodes, self._new_fetches, self._changed = 0, [], {}, []
        self._spent, self._began = 0.0, time.monotonic()
        self._next_look, self._ops = _FIRST_LOOK, 0
        self._at_look = 0, 0  # ops that had run at the last one, bytes that were live
        self._lock, self._cycle_looks = threading.RLock(), 0
        self._is_looking = False

    def start(self):
        self._resident = resident()
        begin = threading.Thread._bootstrap_inner
        visitor = self

        def bootstrap(thread):
            visitor.begin_thread()
            begin(thread)

        threading.Thread._bootstrap_inner = bootstrap
        self.begin_thread()

    # --- for a library's own visitor ------------------------------------------------------------

    def follow_arrays(self, kind, *methods):
        """Arrays of NumPy's that these methods of a class make are told as tensors are."""
        visitor = self
        for name in methods:
            method = getattr(kind, name)

            @functools.wraps(method)
            def made(*args, _method=method, **named):
                array = _method(*args, **named)
                is_large = type(array) is np.ndarray and array.nbytes >= _LARGE_ARRAY
                if is_large and not array.dtype.hasobject and not visitor.is_known(array):
                    visitor.ran("numpy", [(array, array.nbytes, "value")])
                return array

            setattr(kind, name, made)

    def begin_thread(self):
        """Hooks that each thread has for itself."""

    def stop(self):
        """The hooks go."""

    def tensor_of(self, obj):
        """What ``made`` was told of for an object that the walk has met."""
        return obj

    def origin_of(self, function):
        """(file, line) of a function's code; ("", 0): not known."""
        return "", 0

    def sort_of(self, obj):
        """Of which sort of ``sorts`` it is; None."""
        return next((sort for kind, sort in self._sorts.items() if isinstance(obj, kind)), None)

    def new_in(self, obj):
        """(tensor, bytes, holder) of what the walk has met and no hook has told of: a thread of the
        library's own may have made it."""
        return ()

    def memory_of(self, tensor):
        """What is equal for tensors that share their memory; None: none do."""

    def heir_of(self, made):
        """Of a tensor that went another one that has its memory; None: there is none."""

    def sorts_of_tensor(self, tensor):
        """(sort, how many) of what a tensor keeps beside its own bytes, as the library knows."""
        return ()

    # --- while the program runs -----------------------------------------------------------------

    def ran(self, op, outputs):
        """An op has run: ``outputs`` are (tensor, bytes, holder) of those that are new."""
        if self._is_looking:
            return
        frame = users_frame()
        if frame is None:
            return
        place = place_of(frame)
        with self._lock:
            self._threads_seen.add(threading.get_ident())
            self._drain()
            self._begin(place, op, outputs)
            self._accounts.op(place, op)
            self.went_on()

    def _begin(self, place, op, outputs):
        for tensor, size, holder in outputs:
            key = (place, "variable" if holder == "variable" else op, holder)
            made = Made(tensor, self._gone.append)
            made.key, made.size, made.memory = key, size, self.memory_of(tensor)
            self._made[made.number] = made
            self._accounts.begin(key, size)

    def went_on(self):
        """The program has done something more: now and then it is looked at."""
        with self._lock:
            self._ops += 1
            if self._ops >= self._next_look:
                self._maybe_look()

    def is_known(self, tensor):
        made = self._made.get(id(tensor))
        return made is not None and made() is tensor

    def settle(self):
        """Takes note of the tensors that went."""
        with self._lock:
            self._drain()

    def _drain(self):
        while self._gone:
            made = self._gone.popleft()
            if self._made.get(made.number) is made:
                del self._made[made.number]
            heir = self.heir_of(made)
            if heir is None:
                self._accounts.end(made.key, made.size)
                continue
            kept = Made(heir, self._gone.append)
            kept.key, kept.size, kept.memory = made.key, made.size, made.memory
            self._made[kept.number] = kept

    def traced(self, function, name, code, arguments, place):
        """A function is traced; ``arguments`` tell what tracing tells calls apart by."""
        if code is None or not links.is_programs(code.co_filename):
            return  # a library's own function is not the program's doing
        with self._lock:
            number = self._number_of(function)
            before = self._last_arguments.get(number)
            self._last_arguments[number] = arguments
            what = _difference(before, arguments) if before is not None else ()
            self._traces.append(types.SimpleNamespace(
                function=name, number=number, place=place, nbytes=0, kinds=what,
                defined=(code.co_filename, code.co_firstlineno),
                reason=f"another {what[0]}" if what else "the first call", python_steps=(),
            ))  # fmt: skip

    def _number_of(self, function):
        number = self._numbers.get(function)
        if number is None:
            number = self._numbers[function] = next(self._count)
        return number

    def _maybe_look(self):
        self._next_look = self._ops + max(_FIRST_LOOK, self._ops // 8)
        last_ops, last_live = self._at_look
        if self._ops < 2 * last_ops and self._accounts.total < 1.25 * last_live:
            return  # no more is kept than before: the few looks are for what comes
        self._at_look = self._ops, self._accounts.total
        if self._seen.looks < 4 or self._spent < _SHARE * (time.monotonic() - self._began):
            self.look()

    def look(self, is_last=False):
        """One walk over what is alive."""
        self._seen.additions.end()
        began = time.thread_time()
        with self._lock:
            self._is_looking = True
            try:
                self._drain()
                live = [made() for made in list(self._made.values())] if is_last else ()
                reached = walk(self._wanted, [one for one in live if one is not None])
                self._note(reached, is_last)
                self._seen.additions.choose(list(self._ways(reached)), is_last)
            finally:
                self._is_looking = False
                self._spent += time.thread_time() - began
        if not is_last:
            self._seen.additions.begin()

    def _note(self, reached, is_last):
        for one in reached:
            tensor = self.tensor_of(one.obj)
            if self.sort_of(one.obj) is None and not self.is_known(tensor):
                self._begin("", "values", self.new_in(one.obj))
        holders, owners, told = {}, {}, {}
        claimed = Counter()
        for one in reached:
            sort = self.sort_of(one.obj)
            made = self._made.get(id(self.tensor_of(one.obj)))
            if sort is None and made is None:
                continue
            # Many things in one container are reached the same way.
            same = (id(one.parent), type(one.obj), made.key if made else None)
            if same not in told or one.parent is None:
                *way, left_out = one.way()
                path, names = links.without_own_dicts(*way)
                told[same] = links.links_of(path, names, one.root, left_out)
            if sort is not None:
                origin = self.origin_of(one.obj) if sort == "function" else ()
                owner = owners.setdefault((sort, origin), Owner(sort, origin))
                owner.ways.append(Way(tuple(told[same]), 1))
                continue
            claimed[made.key] += made.size
            self._claim(holders, made, told[same])
            for more, count in self.sorts_of_tensor(one.obj):
                owner = owners.setdefault((more, ()), Owner(more, ()))
                owner.ways.append(Way(_that_grows(told[same], count), 1))
        for made, told_ in self._garbage(claimed):
            claimed[made.key] += made.size
            self._claim(holders, made, told_, "cycle")
        self._forget_others(holders, claimed)
        found = list(holders.values())
        self._seen.looks += 1
        self._seen.chains.note(found, list(owners.values()))
        self._seen.note_holders(found, is_last)
        for holder in found:
            known = self._seen.by_words.setdefault(holder.words, holder)
            if holder.bytes > known.bytes:
                self._seen.by_words[holder.words] = holder

    def _ways(self, reached):
        """(sort, how many, what tells the way there), for the additions."""
        for one in reached:
            sort = self.sort_of(one.obj)
            made = self._made.get(id(self.tensor_of(one.obj)))
            tell = lambda one=one: (*one.way()[:2], one.root)  # noqa: E731
            if sort is not None:
                yield (sort, self.origin_of(one.obj) if sort == "function" else ()), 1, tell
            elif made is not None:
                yield made.key, made.size, tell
                for more, count in self.sorts_of_tensor(one.obj):
                    yield (more, ()), count or 1, tell

    def _forget_others(self, holders, claimed):
        """What native code keeps most of is not the program's variable that also has one."""
        for key in [key for key in claimed if 2 * claimed[key] < self._accounts.live[key]]:
            for holder in holders.values():
                holder.forget(key)
            self._seen.holder_of.pop(key, None)
            self._seen.chains.ways.pop(key, None)

    def _garbage(self, claimed):
        """(Made, links) of tensors that only cycles keep."""
        left = {}
        for made in list(self._made.values()):
            key = made.key
            if 2 * claimed[key] < self._accounts.live[key] and made() is not None:
                left.setdefault(key, []).append(made)
        left = {key: all_ for key, all_ in left.items() if len(all_) >= _FEWEST_IN_CYCLES}
        if not left or self._cycle_looks >= _MOST_CYCLE_LOOKS:
            return
        self._cycle_looks += 1
        for all_ in left.values():
            way = _cycle_around(all_[len(all_) // 2]())
            if way is not None:
                for made in all_:
                    yield made, way

    @staticmethod
    def _claim(holders, made, told, kind="other"):
        inner, items = told[-1]
        kind = "variable" if made.key[2] == "variable" else kind
        if any(link.kind == "traceback" for link, _ in told):
            kind = "traceback"
        holder = Holder(inner.words(items), kind, inner.name)
        holder = holders.setdefault((holder.words, kind), holder)
        holder.add(made.size, 1, {made.key: made.size}, {made.key: made.size})
        holder.add_way(told, {made.key: made.size})

    # --- afterwards -----------------------------------------------------------------------------

    def answer(self):
        """What is found by now, as ``tidemark doctor --json`` tells it, and as text."""
        self.look(is_last=True)
        limit = _memory_of_machine()
        analysis = self._accounts.analysis(limit)
        notes = types.SimpleNamespace(
            traces=self._traces, changed_state=self._changed, new_fetches=self._new_fetches,
            nodes=self._nodes, runs=self._runs, bounces=[])  # fmt: skip
        run = Run(analysis, self._seen, notes, limit, {}, "", {})
        found = findings.find(run, [*rules.ALL, self._piled_up])
        for f in found:
            if f.rule.startswith("retrace"):
                f.outlook = "each trace stays with the function, and costs time"
        first = {(f.rule, f.file, f.line): f for f in reversed(found)}
        found = [f for f in found if first[f.rule, f.file, f.line] is f]
        verdict = growth.overall(analysis)
        return {
            "version": 1, "on": self.library, "verdict": verdict.verdict,
            "bytes_per_step": round(verdict.bytes_per_step),
            "steps": {k: analysis["steps"][k] for k in ("count", "how", "place")},
            "peak": analysis["peak"], "limit": limit, "not_seen": self.not_seen,
            "resident_grown": resident() - self._resident,
            "findings": [f.to_json() for f in found],
            "text": findings.text(found, run, can_fix=False),
            "page": page.page(f"{os.path.basename(sys.argv[0])} on {self.library}", run, found),
        }  # fmt: skip

    def moment(self):
        """The numbers of now, as a process that runs Tidemark answers ``tidemark watch``."""
        with self._lock:
            self._drain()
            rows = sorted(self._accounts.live.items(), key=lambda row: -row[1])[:40]
            counts = Counter(made.key for made in self._made.values())
            stats = {"live": self._accounts.total, "peak": self._accounts.peak, "planned": 0,
                     "retained": 0, "resident": resident()}  # fmt: skip
        stats["limit"] = _memory_of_machine()
        stats["not_ours"] = max(0, stats["resident"] - stats["live"])
        groups = [[place, op, holder, size, counts[place, op, holder], 0]
                  for (place, op, holder), size in rows]  # fmt: skip
        return {"stats": stats, "groups": groups, "on": self.library}

    def roots(self):
        """Who keeps most, for recordings over days: [line, chain, bytes, tensors]."""
        self.look()
        rows = [
            [key[0], " ← ".join(self._seen.chains.of_groups([key]).words()), size, 0]
            for key, (size, _) in self._seen.chains.ways.items()
        ]
        return {"roots": sorted(rows, key=lambda row: -row[2])[:40]}

    def result(self):
        """What was found, at the end."""
        found = self.answer()
        self.stop()
        return found

    def _piled_up(self, run):
        """Objects whose bytes cannot be seen, more and more of them in one container."""
        grown, _ = growth.growing_groups(run.analysis)
        unseen = [(key, by) for key, by in grown if key not in run.seen.holder_of]
        for kind, (rule, title, fix) in self.piles.items():
            chain = run.seen.chains.of_owner(kind, ())
            if chain is None or chain.grower is None:
                continue
            first, last = run.seen.chains.items[chain.grower]
            if last - first < self.fewest.get(kind, _PILED_UP):
                continue
            of_kind = unseen if kind in self.keepers else []
            if kind in self.keepers and kind != "tape" and not of_kind:
                continue
            yield rules.finding(
                rule, title, chain.grower.file, chain.grower.line, chain.grower.words(last), fix,
                verdict=growth.GROWING, owner=(kind, ()), keys=[key for key, _ in of_kind],
                bytes_per_step=sum(by.bytes_per_step for _, by in of_kind),
                evidence=f"{last:,} {self.plurals.get(kind, f'{kind}s')}; what native code keeps "
                "for them cannot be seen",
            )  # fmt: skip


def _cycle_around(tensor):
    """The shortest cycle that leads to a tensor which nothing else does, as links; None."""
    holders = [one for one in gc.get_referrers(tensor) if not isinstance(one, types.FrameType)]
    for holder in holders:
        if isinstance(holder, dict):
            owners = [one for one in gc.get_referrers(holder)
                      if links.is_instance(one) and links.own_dict(one) is holder]  # fmt: skip
            holder = owners[0] if owners else holder
        way = links.shortest_cycle(holder)
        if way is not None and links.leads_to_the_program(holder):
            name = next((n for n, v in (links.own_dict(holder) or {}).items() if v is tensor), None)
            return [(links.cycle_link(way), 0), *links.attribute_links(holder, tensor, name)]
    return None


def _that_grows(told, count):
    """The way, with so many things in what it ends at."""
    if not count:
        return tuple(told)
    last, _ = told[-1]
    return (*told[:-1], (dataclasses.replace(last, is_container=True), count))


def describe(value, tensors):
    """What tracing tells values apart by: (sort, what it is)."""
    if isinstance(value, tensors):
        return "shape", (tuple(value.shape), str(value.dtype))
    if isinstance(value, (list, tuple, dict)):
        return "structure", len(value)
    if callable(value):
        return "identity", id(value)
    return "value", repr(value)[:80]


def _difference(before, now):
    """By which sorts of arguments two calls differ."""
    if len(before) != len(now):
        return ("structure",)
    return tuple({b[0] for a, b in zip(before, now, strict=True) if a != b})
