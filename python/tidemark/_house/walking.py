"""A walk over a program's objects in pure Python, nearest first, with the way to each."""

from __future__ import annotations

import gc
import sys
import threading
import time
import types
from collections import deque
from dataclasses import dataclass

from tidemark._explain import kinds, links, source
from tidemark._explain.keeping import Root

_MOST_OBJECTS = 300_000
_MOST_SECONDS = 1.0
_MOST_LENGTH = 48


@dataclass
class Reached:
    """An object that a walk was to look for, and how it was reached."""

    obj: object
    parent: object
    root: Root
    path: list
    edges: list


def _frames():
    """The program's running functions: (frame, thread's name)."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():
        while frame is not None:
            if links.is_programs(frame.f_code.co_filename):
                yield frame, names.get(ident, "")
            frame = frame.f_back


def roots():
    """Local variables of running functions, and the globals of the program's modules."""
    found = []
    for frame, thread in _frames():
        if frame.f_locals is frame.f_globals:
            continue
        code = frame.f_code
        found += [
            Root("local", name, value, code.co_name, code.co_filename, frame.f_lineno,
                 source.code_range(code), thread)
            for name, value in list(frame.f_locals.items())
        ]  # fmt: skip
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if isinstance(module, types.ModuleType) and links.is_programs(file):
            found.append(Root("global", module.__name__, vars(module), "", file))
    return found


def _is_closed(obj):
    """What belongs to libraries is not entered."""
    if isinstance(obj, types.ModuleType):
        return True
    if isinstance(obj, type):
        return not links.is_programs(links.file_of(obj))
    if isinstance(obj, types.FunctionType):
        return not links.is_programs(obj.__code__.co_filename)
    return isinstance(obj, types.FrameType) and not links.is_programs(obj.f_code.co_filename)


def walk(wanted):
    """[Reached] of the types, each object once."""
    found, came, open_ = [], {}, deque()
    for root in roots():
        if id(root.value) not in came and not _is_closed(root.value):
            came[id(root.value)] = (root.value, None, root)
            open_.append(root.value)
    end = time.monotonic() + _MOST_SECONDS
    while open_ and len(came) < _MOST_OBJECTS and time.monotonic() < end:
        obj = open_.popleft()
        _, parent, root = came[id(obj)]
        if isinstance(obj, wanted):
            path, edges = _way(came, obj)
            found.append(Reached(obj, parent, root, path, edges))
            if isinstance(obj, (*kinds.tensors, *kinds.variables)):
                continue
        for child in gc.get_referents(obj):
            is_seen = id(child) in came or not gc.is_tracked(child)
            if is_seen and not isinstance(child, kinds.tensors):
                continue
            if id(child) in came or _is_closed(child):
                continue
            came[id(child)] = (child, obj, root)
            open_.append(child)
    return found


def _way(came, obj):
    path = [obj]
    while (parent := came[id(path[-1])][1]) is not None and len(path) < _MOST_LENGTH:
        path.append(parent)
    path.reverse()
    return path, [_edge(a, b) for a, b in zip(path, path[1:], strict=False)]


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
