"""A walk over a program's objects in pure Python, nearest first, with the way to each."""

from __future__ import annotations

import gc
import sys
import threading
import time
import types
from collections import deque
from dataclasses import dataclass

import numpy as np

from tidemark._explain import hidden, kinds, links, source
from tidemark._explain.keeping import Root

_MOST_OBJECTS = 300_000
_MOST_SECONDS = 1.0
_MOST_OF_LIBRARIES = 5_000_000
_MOST_SECONDS_OF_LIBRARIES = 5.0
_FEWEST_LEFT = 8  # tensors that the program's own objects do not lead to
_END = 24  # of a way: what stands in the middle of a longer one is left out


@dataclass
class Reached:
    """An object that a walk was to look for, and how it was reached."""

    obj: object
    parent: object
    root: Root
    came: dict  # of the walk

    def way(self):
        """The objects from the root on, by which name each refers to the next, and how many are
        left out in the middle."""
        path = [self.obj]
        while (parent := self.came[id(path[-1])][1]) is not None:
            path.append(parent)
        path.reverse()
        left_out = max(0, len(path) - 2 * _END)
        if left_out:
            path[_END:-_END] = []
        return path, [_edge(a, b) for a, b in zip(path, path[1:], strict=False)], left_out


def _frames():
    """The program's running functions: (frame, thread's name). The outermost first: what it calls
    only borrows."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():
        running = []
        while frame is not None:
            if links.is_programs(frame.f_code.co_filename):
                running.append((frame, names.get(ident, "")))
            frame = frame.f_back
        yield from reversed(running)


def roots(contexts=None):
    """Local variables of running functions, the globals of the program's modules, and what the
    collector does not lead to."""
    found = []
    for frame, thread in _frames():
        if frame.f_locals is not frame.f_globals:
            found += _variables(frame, thread)
    return [*found, *_modules(True), *hidden.roots(contexts)]


def _variables(frame, thread):
    """A root for each of a function's variables."""
    code = frame.f_code
    return [
        Root("local", name, value, code.co_name, code.co_filename, frame.f_lineno,
             source.code_range(code), thread)
        for name, value in list(frame.f_locals.items())
    ]  # fmt: skip


def _waiting(coroutines):
    """Those of the program's that wait."""
    return [one for one in coroutines
            if (frame := links.frame_of(one)) is not None
            and links.is_programs(frame.f_code.co_filename)]  # fmt: skip


def _modules(of_the_program):
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        is_module = isinstance(module, types.ModuleType)
        if is_module and links.is_programs(file) == of_the_program:
            yield Root("global", module.__name__, vars(module), "", file)


def _is_closed(obj):
    """What belongs to libraries is not entered."""
    kind = type(obj)
    if issubclass(kind, types.ModuleType):
        return True
    if issubclass(kind, type):
        return not links.is_programs(links.file_of(obj))
    return kind is types.FrameType and not links.is_programs(obj.f_code.co_filename)


def _referents(obj):
    if type(obj) is types.FunctionType and not links.is_programs(obj.__code__.co_filename):
        # What a library's function was given, and not all that the library knows.
        given = (obj.__closure__, obj.__defaults__, obj.__kwdefaults__, obj.__wrapped__
                 if hasattr(obj, "__wrapped__") else None)  # fmt: skip
        return [one for one in given if one is not None]
    return [*gc.get_referents(obj), *hidden.items(obj)]


class _Walk:
    def __init__(self, wanted):
        self._wanted = wanted
        self._open = deque()
        self.found, self.came = [], {}

    def spread(self, begin, is_closed, most, seconds, is_enough=None):
        """Nearest first, from some roots on."""
        came, open_ = self.came, self._open
        for root in begin:
            if id(root.value) not in came and not is_closed(root.value):
                came[id(root.value)] = (root.value, None, root)
                open_.append(root.value)
        end = time.thread_time() + seconds
        while open_ and len(came) < most and time.thread_time() < end:
            obj = open_.popleft()
            _, parent, root = came[id(obj)]
            if issubclass(type(obj), self._wanted):  # a proxy may answer for another's class
                self.found.append(Reached(obj, parent, root, came))
                if is_enough is not None and is_enough(obj):
                    return
                if issubclass(type(obj), (*kinds.tensors, *kinds.variables)):
                    continue
            for child in _referents(obj):
                if id(child) in came or not _may_lead_on(child) or is_closed(child):
                    continue
                came[id(child)] = (child, obj, root)
                open_.append(child)


def _may_lead_on(obj):
    kind = type(obj)
    if kind is np.ndarray:
        return obj.nbytes or hidden.items(obj)
    return gc.is_tracked(obj) or issubclass(kind, kinds.tensors)


def walk(wanted, live=()):
    """[Reached] of the types, each object once.

    Of ``live``, what the program's own objects do not lead to is looked for in libraries, too."""
    one = _Walk(wanted)
    contexts, coroutines = hidden.contexts_and_coroutines()
    one.spread(roots(contexts), _is_closed, _MOST_OBJECTS, _MOST_SECONDS)
    # What a library's loop goes on with later, and nothing of the program's keeps.
    waiting = [root for paused in _waiting(coroutines) if id(paused) not in one.came
               for root in _variables(links.frame_of(paused), "")]  # fmt: skip
    one.spread(waiting, _is_closed, _MOST_OBJECTS, _MOST_SECONDS)
    left = {id(obj) for obj in live if id(obj) not in one.came}
    if len(left) >= _FEWEST_LEFT:

        def is_enough(obj):
            left.discard(id(obj))
            return not left

        one.spread(_modules(False), lambda _: False, _MOST_OF_LIBRARIES,
                   _MOST_SECONDS_OF_LIBRARIES, is_enough)  # fmt: skip
    return one.found


def _edge(parent, child):
    """The name by which one object refers to another; None."""
    if isinstance(parent, (list, tuple, set, frozenset, types.CellType, types.FrameType)):
        return None
    names = parent if isinstance(parent, dict) else links.own_dict(parent)
    if isinstance(parent, type):
        names = dict(vars(parent))
    for name, value in (names or {}).items():
        if value is child:
            return name if isinstance(name, str) else None
    for kind in type(parent).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if getattr(parent, name, None) is child:
                return name
    return None
