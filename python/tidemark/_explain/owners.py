"""Objects of the runtime for which native code keeps memory that Python's collector cannot see:
compiled functions, iterators of datasets, sessions, graphs. Each with the ways that lead to it."""

from __future__ import annotations

import sys

from tidemark import _tidemark
from tidemark._explain import links
from tidemark._explain.keeping import Owner, Way


def types(objects):
    """The types whose instances are looked for among all objects."""
    found = [_tidemark.FunctionBase]
    for module, name in (
        ("tidemark.data._iterator", "Iterator"),
        ("tidemark._v1.session", "BaseSession"),
        ("tidemark._v1.graph", "Graph"),
    ):
        kind = getattr(sys.modules.get(module), name, None)  # it may be on its way in
        found += [kind] if kind is not None else []
    return tuple({*found, *_types_with_methods(objects)})


def _types_with_methods(objects):
    """The classes of the instances that have compiled functions of their own as methods: who keeps
    an instance keeps these."""
    bound = [one for one in objects if isinstance(one, _tidemark.FunctionBase)]
    instances = [_instance_of(function) for function in bound]
    return {type(instance) for instance in instances if instance is not None}


def _instance_of(function):
    refer = getattr(function, "_instance", None)
    return refer() if refer is not None else None


def owners(walked, roots):
    """[Owner] of what a walk has met."""
    found = {}
    for item in walked:
        if item["root"] == -2:  # in a cycle that the collector will come for
            continue
        path, names = links.without_own_dicts(item["path"], item["edges"])
        root = roots[item["root"]] if item["root"] >= 0 else None
        way = None
        for kind, origin in _sorts_of(item["path"][-1]):
            if way is None:
                told = links.links_of(path, names, root, item["left_out"])
                way = Way(tuple(told), item["count"])
            found.setdefault((kind, origin), Owner(kind, origin)).ways.append(way)
    return list(found.values())


def ways(walked, roots):
    """(sort of objects, how many, what tells the way there) of what was reached from roots."""
    for item in walked:
        if item["root"] >= 0:
            way = item["path"], item["edges"], roots[item["root"]]
            for sort in _sorts_of(item["path"][-1]):
                yield sort, item["count"], lambda way=way: way


def _sorts_of(obj):
    if isinstance(obj, _tidemark.FunctionBase):
        if _instance_of(obj) is None:
            yield _sort_of_function(obj)
    elif hasattr(obj, "_opened_at"):
        yield "session", (obj._opened_at,)
    elif type(obj).__module__ == "tidemark._v1.graph":
        yield "graph", ()
    elif type(obj).__module__ == "tidemark.data._iterator":
        yield "iterator", ()
    else:
        methods = {id(m): m for k in type(obj).__mro__ for m in vars(k).values()
                   if isinstance(m, _tidemark.FunctionBase)}  # fmt: skip
        for method in methods.values():
            yield _sort_of_function(method)


def _sort_of_function(function):
    code = getattr(getattr(function, "_python_function", None), "__code__", None)
    return "function", (code.co_filename, code.co_firstlineno) if code else ("", 0)
