"""The lines after which what grows has more, seen while they run.

After a look, the containers on the ways to what has grown are watched for a moment: the program's
lines are traced, and when a container has gained something, the line that ran is noted. That holds
for whatever a program stores with, also inside of a library's call; its source need not be
understood.
"""

from __future__ import annotations

import queue
import statistics
import sys
import threading
import time
import types
import zlib
from collections import Counter, deque

import numpy as np

from tidemark._explain import links, source

# Of one watch, as long as which what is watched lives: of processors, and by the clock.
_MOST_SECONDS, _MOST_SECONDS_BY_THE_CLOCK = 1.0, 4.0
_MOST_SECONDS_IN_ALL = 2.0  # of the watching itself
_MOST_EVENTS = 20_000
_MOST_REMEMBERED = 4_000  # lines, of all watches
_ALIKE = 2  # times that one line may add for each time of the other
_SURELY = 3  # gains of what need not be what grows
_ENOUGH = 4  # gains of one sort of bytes that were seen
_MOST_SORTS = 6
_MOST_IN_VAIN = 3
_MOST_CONTAINERS = 64  # of one sort
_MOST_WAYS = 256
_MOST_ARRAY = 1 << 18  # bytes of an array of objects
_COUNTED = (list, dict, set, deque)
_PLAIN = (int, float, complex, str, bytes, np.generic)
_FEW_ITEMS = 16
_MADE_ON_DEMAND = ("lru_cache", "cached_property")


class Additions:
    """What was seen to be added, by sort of bytes (or of objects) and by what it was added to."""

    def __init__(self, lines=None):
        """``lines``: what tells of lines as they run; none is watched without."""
        self._lines = lines
        self._seen = {}  # sort → {what was added to: Counter of (file, line)}
        self._names = {}  # (sort, link's identity) → what was told by that link
        self._last = {}  # sort → bytes or objects at the last look
        self._in_vain = Counter()  # by sort: watches that ran out without a gain
        self._spent = 0.0
        self._watch = None
        self._ran = []  # (thread, file, line) one after the other; None: a watch began

    # --- choosing what to watch -----------------------------------------------------------------

    def choose(self, ways, is_last=False):
        """Of the ways of a look, [(sort, size, function that tells path, edges and root)], those
        to what has grown. What is on them is kept until the watch ends, or the next look."""
        self.end()
        sizes = Counter()
        for sort, size, *_ in ways:
            sizes[sort] += size
        grown = {
            sort: size - self._last.get(sort, 0)
            for sort, size in sizes.items()
            if size > self._last.get(sort, 0) and (is_last or self._wants(sort))
        }
        self._last = dict(sizes)
        if self._lines is None:
            return
        sorts = sorted(grown, key=lambda sort: -grown[sort])[:_MOST_SORTS]
        watched = [one for sort in sorts for one in _watched_of(sort, ways)]
        for one in watched:
            self._names.setdefault((one.sort, one.link), set()).add(one.key)
        if watched and not is_last and self._spent < _MOST_SECONDS_IN_ALL:
            self._watch = _Watch(self, self._lines, watched)

    def _wants(self, sort):
        if self._in_vain[sort] >= _MOST_IN_VAIN:
            return False  # what it is kept by gains nothing: each watch makes the lines slower
        seen = self._seen.get(sort, {})
        return max((sum(lines.values()) for lines in seen.values()), default=0) < _ENOUGH

    # --- while the program runs -----------------------------------------------------------------

    def begin(self):
        """From now on lines are watched, for a moment."""
        watch = self._watch
        if watch is not None and not watch.is_running:
            watch.begin()

    def end(self, only=None):
        """Nothing is watched, and nothing kept, any more; or no longer by that watch."""
        watch = self._watch if only is None else only
        if watch is self._watch:
            self._watch = None
        if watch is not None:
            took, in_vain = watch.end()
            self._spent += took
            self._in_vain.update(in_vain)

    def end_if_over(self):
        """For a thread that looks by the clock: the program may have stopped to run lines."""
        watch = self._watch
        if watch is not None and watch.is_over():
            self.end(watch)

    def note(self, watched, place):
        """Something was added by the line of a place."""
        seen = self._seen.setdefault(watched.sort, {})
        seen.setdefault((watched.key, watched.is_new), Counter())[place] += 1

    def remember(self, ran):
        """A line is about to run, (thread, file, line); None: a watch begins."""
        if len(self._ran) < _MOST_REMEMBERED:
            self._ran.append(ran)

    # --- afterwards -----------------------------------------------------------------------------

    def line(self, sorts, chain, made_at=()):
        """(file, line) of the statement that adds to what grows; ("", 0): it was not seen.

        Where no container was told to grow, it is what gains most on the way. Of several lines
        that add alike it is the one that adds what is made at the first of these places."""
        told = [link for link, _ in chain.links]
        if any(link.kind in _MADE_ON_DEMAND for link in told):
            return "", 0  # who asks for something adds it: to be changed is what keeps it
        at = len(told) if chain.grower is None else told.index(chain.grower) + 1
        grower = None if chain.grower is not None and chain.grower.kind == "names" else chain.grower
        if grower is not None and grower.kind == "linked" and at > 1:
            at, grower = at - 1, told[at - 2]  # what refers to the newest of them
        for link in reversed(told[:at]):
            for is_rebound in (False, True) if link == grower else (False,):
                lines = self._lines_of(sorts, link, is_rebound)
                if lines and (link == grower or lines.total() >= _SURELY):
                    return _likeliest(lines, made_at)
            if link == grower:
                break
        return "", 0

    def trips(self, inner, outer):
        """How often a loop was seen to go round in each round of one around it; 0: it was not."""
        seen, heads, thread = [], None, 0
        for ran in self._ran:
            if ran is None or (ran[0] == thread and ran[1:] == outer):
                seen += [heads] if heads is not None and ran is not None else []
                heads = None if ran is None else 0
            elif ran[1:] == outer:
                heads, thread = 0, ran[0]
            elif heads is not None and ran[1:] == inner and ran[0] == thread:
                heads += 1
        # The head runs once more, when the loop ends.
        return max(0, statistics.median_low(seen) - 1) if seen else 0

    def _lines_of(self, sorts, link, is_rebound):
        lines = Counter()
        for sort in sorts:
            seen = self._seen.get(sort, {})
            for key in self._names.get((sort, _identity(link)), ()):
                lines += seen.get((key, is_rebound), Counter())
        return lines


def _identity(link):
    """Equal for a link as it was on the way and as it is told."""
    return link.label, link.file, link.line


def _likeliest(lines, made_at):
    """(file, line) of the statement that added most often; of equals, the one that adds what is
    made at the first of these places."""
    statements = Counter()
    for (file, line), times in lines.items():
        statements[file, source.statement_range(file, line)[0]] += times
    (first, most), *others = statements.most_common()
    alike = [place for place, times in others if times * _ALIKE >= most]
    for place in made_at if alike else ():
        made_in, made, _ = source.parse_place(place)
        made_in = source.full_path(made_in)
        fitting = source.line_storing(
            made_in, made, [line for file, line in (first, *alike) if file == made_in]
        )
        if fitting:
            return made_in, fitting
    return first


class _Watched:
    """A container, or a name, whose content is counted."""

    __slots__ = ("sort", "key", "link", "is_new", "count", "latest", "before")

    def __init__(self, sort, key, link, is_new, count, latest):
        self.sort, self.key, self.link, self.is_new = sort, key, link, is_new
        self.count, self.latest = count, latest
        self.before = count()


def _watched_of(sort, ways):
    """What is watched for one sort: the containers that most of it is kept by."""
    found, shares = {}, Counter()
    of_sort = [way for one, *way in ways if one == sort]
    for size, tell in of_sort[-_MOST_WAYS:]:
        path, edges, root = tell()
        for key, watched in _on_the_way(*links.without_own_dicts(path, edges), root):
            found.setdefault(key, watched)
            shares[key] += size
    for key, _ in shares.most_common(_MOST_CONTAINERS):
        yield _Watched(sort, key, *found[key])


def _on_the_way(path, names, root):
    """(identity, (link, whether it is new each time, how it is counted, what came last))."""
    for at, link, _ in links.each_link(path, names, root):
        if at is None:
            continue
        obj = path[at]
        if (count := _counter_of(obj)) is not None:
            yield (id(obj), ""), (_identity(link), False, count, _latest_of(obj))
        slot = _slot_of(path[at - 1], names[at]) if at and _may_be_made_anew(obj) else None
        if slot is not None:
            yield (id(path[at - 1]), names[at]), (_identity(link), True, _Changes(slot), object)


def _may_be_made_anew(obj):
    return isinstance(obj, links.CONTAINERS) or callable(obj) or links.is_instance(obj)


def _counter_of(obj):
    """A function that counts what a thing has; None: it cannot gain anything."""
    kind = _kind_of(obj)
    if kind is not None:
        return lambda: kind.__len__(obj)
    if isinstance(obj, queue.SimpleQueue):
        return obj.qsize
    if links.is_of_objects(obj):
        return _Changes(lambda: _checksum(obj)) if obj.nbytes <= _MOST_ARRAY else None
    if isinstance(obj, type):
        return lambda: len(vars(obj))
    if links.is_instance(obj) and links.is_installed(links.file_of(type(obj))):
        return None  # what a library's object has is its own affair
    own = links.own_dict(obj)
    return (lambda: dict.__len__(own)) if isinstance(own, dict) else None


def _kind_of(obj):
    """list, dict, set or deque; None. A proxy that says to be one is none."""
    return next((kind for kind in _COUNTED if issubclass(type(obj), kind)), None)


def _content_of(cell):
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet, or any more
        return None


def _checksum(array):
    """Of which objects an array has."""
    return [zlib.crc32(column.tobytes()) for column in links.columns_of_objects(array)]


def _slot_of(owner, name):
    """A function that tells which object has a name; None: there is no such function."""
    if isinstance(owner, types.CellType):
        return lambda: id(_content_of(owner))
    if not isinstance(name, str):
        return None
    if isinstance(owner, type):
        return lambda: id(vars(owner).get(name))
    names = owner if isinstance(owner, dict) else links.own_dict(owner)
    return (lambda: id(dict.get(names, name))) if isinstance(names, dict) else None


class _Changes:
    """How often something was seen to be another than before."""

    def __init__(self, read):
        self._read, self._before, self._count = read, read(), 0

    def __call__(self):
        now = self._read()
        if now != self._before:
            self._before = now
            self._count += 1
        return self._count


class _Watch:
    """A trace of lines, until something of each sort was added, or for a moment."""

    def __init__(self, additions, lines, watched):
        self._additions, self._lines, self._watched = additions, lines, watched
        self._at = {}  # thread → (file, line) that runs there
        self._latest = 0  # the thread that the last event was of
        self._events, self._spent = 0, 0.0
        self._until = self._until_by_the_clock = float("inf")
        self._gains = Counter()  # by sort and link
        self._left = {one.sort for one in watched}
        self.is_running = False

    def begin(self):
        frame = sys._getframe(1)
        while frame is not None and not links.is_programs(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None:
            self._latest = threading.get_ident()
            self._at[self._latest] = (frame.f_code.co_filename, frame.f_lineno)
        self._until = time.process_time() + _MOST_SECONDS
        self._until_by_the_clock = time.monotonic() + _MOST_SECONDS_BY_THE_CLOCK
        self._additions.remember(None)
        self.is_running = self._lines.start(self._moved)

    def is_over(self):
        return time.process_time() > self._until or time.monotonic() > self._until_by_the_clock

    def end(self):
        """Lets go of all that was watched; how long it took, and which sorts gained nothing though
        there was time."""
        had_time = self.is_running and (self.is_over() or self._events >= _MOST_EVENTS)
        gained = {sort for (sort, _), count in self._gains.items() if count}
        in_vain = {one.sort for one in self._watched} - gained if had_time else set()
        self._watched = []
        self._until = self._until_by_the_clock = 0.0
        if self.is_running:
            self.is_running = False
            self._lines.stop()
        return self._spent, in_vain

    def _moved(self, file, line):
        """A line is about to run; whether to go on."""
        began = time.thread_time()
        thread = threading.get_ident()
        self._settle(self._at.get(thread), thread == self._latest)
        self._at[thread] = (file, line)
        self._latest = thread
        self._additions.remember((thread, file, line))
        self._events += 1
        self._spent += time.thread_time() - began
        if self._left and self._events < _MOST_EVENTS and not self.is_over():
            return True
        self._additions.end(self)
        return False

    def _settle(self, at, is_alone):
        """What was gained since the last event is what ran since then in this thread added, if
        that event was of this thread as well: else another may have run in between."""
        for one in self._watched:
            now = one.count()
            is_more = now > one.before and at and at[1] and not _is_plain(one.latest())
            if is_more and is_alone and self._lines.is_sure():
                self._additions.note(one, at)
                if not one.is_new:
                    self._gains[one.sort, one.link] += 1
                    if self._gains[one.sort, one.link] >= _ENOUGH:
                        self._left.discard(one.sort)
            one.before = now


def _latest_of(obj):
    """A function that tells what came last into a container; of others something unknown."""
    kind = _kind_of(obj)  # a class of the program's may do anything else where it is asked
    if kind in (list, deque):
        return lambda: kind.__getitem__(obj, -1) if kind.__len__(obj) else None
    if kind is dict:
        return lambda: next(reversed(dict.values(obj)), None)
    return object


def _is_plain(obj, depth=3):
    """Text, numbers, and containers of nothing else: not what keeps bytes."""
    if obj is None or isinstance(obj, _PLAIN):
        return True
    if depth and type(obj) in (list, tuple, dict) and len(obj) <= _FEW_ITEMS:
        return all(_is_plain(one, depth - 1) for one in (*obj, *(
            obj.values() if isinstance(obj, dict) else ())))  # fmt: skip
    return False
