"""What Python's collector does not lead to: values of context variables, and items of
NumPy's arrays of objects."""

from __future__ import annotations

import contextvars
import functools
import gc
import linecache
import sys
import types

from tidemark._explain import links
from tidemark._explain.keeping import Root


def contexts_and_coroutines():
    """All contexts that the collector knows, and all coroutines; none where the program's source
    mentions neither, for all objects are looked at for them."""
    contexts, coroutines = [], []
    if not any(_may_use_them(module) for module in list(sys.modules.values())):
        return contexts, coroutines
    of_kind = {contextvars.Context: contexts, types.CoroutineType: coroutines}
    for obj in gc.get_objects():
        if type(obj) in of_kind:
            of_kind[type(obj)].append(obj)
    return contexts, coroutines


def _may_use_them(module):
    if not issubclass(type(module), types.ModuleType):  # a proxy may answer, and load something
        return False
    file = vars(module).get("__file__")
    if not isinstance(file, str):
        return vars(module).get("__name__") == "__main__"  # what is typed in has no source
    return links.is_programs(file) and _mentions_them(file)


@functools.lru_cache(maxsize=256)
def _mentions_them(file):
    return any("async " in line or "contextvars" in line for line in linecache.getlines(file))


def roots(contexts=None):
    """The values of context variables, in the contexts that only native code has: those in which
    threads are now. Others are reached by way of what keeps them."""
    found = {}
    contexts = contexts_and_coroutines()[0] if contexts is None else contexts
    for context in contexts:
        if not _is_kept(context, contexts):
            for variable, value in context.items():
                found.setdefault((id(variable), id(value)), (variable, value))
    del contexts
    named = _names() if found else {}
    made = []
    for variable, value in found.values():
        name, file = named.get(id(variable), (variable.name, ""))
        made.append(Root("context", name, value, "", file))
    return made


def _is_kept(obj, besides):
    """Whether an object that the collector knows refers to it."""
    referrers = gc.get_referrers(obj)
    return any(one is not besides and not isinstance(one, types.FrameType) for one in referrers)


def _names():
    """{id: (name, file)} of context variables among the globals of the program's modules."""
    found = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if isinstance(module, types.ModuleType) and links.is_programs(file):
            found.update({
                id(value): (name, file)
                for name, value in list(vars(module).items())
                if isinstance(value, contextvars.ContextVar)
            })  # fmt: skip
    return found


def items(obj):
    """The items of an array of objects, and whose memory an array is over; else nothing."""
    kind = type(obj)
    if kind.__name__ != "ndarray" or kind.__module__ != "numpy":
        return ()
    if obj.dtype.kind == "O":
        return list(obj.flat)
    if obj.dtype.hasobject and obj.dtype.names:
        return [item for name in obj.dtype.names for item in items(obj[name])
                if obj.dtype[name].hasobject]  # fmt: skip
    return () if obj.base is None else (obj.base,)
