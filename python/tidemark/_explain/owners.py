"""Objects of the runtime for which native code keeps memory that Python's collector cannot see:
compiled functions, iterators of datasets, sessions. Each with the ways that lead to it."""

from __future__ import annotations

import sys

from tidemark import _tidemark
from tidemark._explain import links
from tidemark._explain.keeping import Owner, Way


def types():
    """The types whose objects are looked for."""
    found = [_tidemark.FunctionBase]
    for module, name in (
        ("tidemark.data._iterator", "Iterator"),
        ("tidemark._v1.session", "BaseSession"),
    ):
        kind = getattr(sys.modules.get(module), name, None)  # it may be on its way in
        found += [kind] if kind is not None else []
    return tuple(found)


def owners(walked, roots):
    """[Owner] of what a walk has met."""
    found = {}
    for item in walked:
        if item["root"] == -2:  # in a cycle that the collector will come for
            continue
        kind, origin = _sort_of(item["path"][-1])
        root = roots[item["root"]] if item["root"] >= 0 else None
        path, names = links.without_own_dicts(item["path"], item["edges"])
        way = Way(tuple(links.links_of(path, names, root)), item["count"])
        found.setdefault((kind, origin), Owner(kind, origin)).ways.append(way)
    return list(found.values())


def _sort_of(obj):
    if isinstance(obj, _tidemark.FunctionBase):
        code = getattr(getattr(obj, "_python_function", None), "__code__", None)
        return "function", (code.co_filename, code.co_firstlineno) if code else ("", 0)
    if hasattr(obj, "_opened_at"):
        return "session", (obj._opened_at,)
    return "iterator", ()
