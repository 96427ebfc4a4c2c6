"""The way from a root to a holder, in words a person understands."""

from __future__ import annotations

import gc
import types

from tidemark import _tidemark
from tidemark._explain import links, source
from tidemark._explain.keeping import Holder

_GARBAGE, _STACK = -2, -3


def _holder(item, words, kind, **more):
    holder = Holder(words, kind, **more)
    holder.add(item["bytes"], item["count"], item["groups"], item["requested"])
    return holder


def explain(item, root):
    """The holders of one thing that a walk has met, each with the way to it."""
    if item["root"] == _GARBAGE:
        yield cycle(item)
    elif item["root"] == _STACK:
        path, names = links.without_own_dicts(item["path"], item["edges"])
        yield _with_way(on_the_stack(item), item, path, names)
    else:
        yield from reached(item, root)


def ways(walked, roots):
    """(sort of bytes, how many, what tells the way there) of what was reached from roots."""
    for item in walked:
        if item["root"] >= 0:
            way = item["path"], item["edges"], roots[item["root"]]
            yield from ((key, size, lambda way=way: way) for key, size in item["groups"].items())


def _with_way(holder, item, path, names, root=None):
    if item["samples"] and item["samples"][0][0] is not path[-1]:
        sample, _, _, name = item["samples"][0]
        path, names = [*path, sample], [*names, name]
    told = links.links_of(path, names, root, item["left_out"])
    holder.add_way(told, holder.groups)
    return holder


def _file_line(path, name, root=None):
    """Where something is added to the name, for 'at train.py:12'."""
    first, last = root.lines if root and root.kind == "local" else (1, 1 << 30)
    line = source.line_for_name(path, name, first, last) if path else 0
    if not line and root is not None:
        line = root.line
    return line


def _at(path, line):
    return f" at {path.rsplit('/', 1)[-1]}:{line}" if path and line else ""


def reached(item, root):
    """What is reached from a variable or a module's globals: one holder, or one a name."""
    path, names = links.without_own_dicts(item["path"], item["edges"])
    last = path[-1]
    if isinstance(last, _tidemark.SessionBase):
        for holder in _session(item, path):
            yield _with_way(holder, item, path, names, root)
        return
    special = _special(item, root, path)
    if special is not None:
        yield _with_way(special, item, path, names, root)
        return
    if len(path) == 1 and isinstance(last, _tidemark.Tensor):
        yield _with_way(_local(item, root, last, last), item, path, names, root)
        return
    if _names_each(last) and item["samples"]:
        yield from _by_name(item, root, path, names)
        return
    yield _named(item, root, path, names)


def _names_each(obj):
    """A namespace: what is in it has names of its own."""
    if isinstance(obj, (types.CellType, types.FrameType)):
        return True
    return isinstance(obj, dict) and "__name__" in obj or links.is_instance(obj)


def _by_name(item, root, path, names):
    rest = {**item, "groups": dict(item["groups"]), "requested": dict(item["requested"])}
    for sample, size, place, name in item["samples"]:
        key = next((k for k in rest["groups"] if k[0] == place), None)
        if key is None or rest["groups"][key] < size:
            continue
        requested = size * item["requested"][key] // item["groups"][key]
        rest["groups"][key] -= size
        rest["requested"][key] -= requested
        rest["bytes"] -= size
        rest["count"] -= 1
        one = {**item, "bytes": size, "count": 1, "groups": {key: size},
               "requested": {key: requested}, "samples": ()}  # fmt: skip
        yield _named(one, root, [*path, sample], [*names, name], sample)
    if rest["bytes"] > 0:
        rest["groups"] = {k: v for k, v in rest["groups"].items() if v > 0}
        yield _named(rest, root, path, names)


def _named(item, root, path, names, child=None):
    return _with_way(_by_last_name(item, root, path, names, child), item, path, names, root)


def _by_last_name(item, root, chain, names, child):
    for at in range(len(chain) - 1, 0, -1):
        parent, obj, name = chain[at - 1], chain[at], names[at]
        word = links.word_of(obj) if obj is not child else ""
        if isinstance(parent, types.CellType):
            function = _function_before(chain, at - 1)
            called = function.__name__ if function else "a function"
            free = links.free_name(function, parent)
            what = f' ({word + " " if word else ""}"{free}")' if free else ""
            code = function.__code__ if function else None
            file, line = (code.co_filename, code.co_firstlineno) if code else ("", 0)
            words = f"closure of {called}{what}{_at(file, line)}"
            return _holder(item, words, "closure", name=free or called, file=file, line=line)
        if isinstance(parent, dict) and "__name__" in parent:
            return _global(item, parent, name, word)
        if links.is_instance(parent) and not links.is_of_objects(parent):
            return _attribute(item, parent, name, word)
        if isinstance(parent, type):
            return _holder(item, f"class attribute {parent.__name__}.{name or '?'}",
                           "attribute", name=name or "?")  # fmt: skip
    if root is not None and root.kind == "local":
        return _local(item, root, chain[0], child)
    return _holder(item, f"{type(chain[-1]).__name__} of {root.name if root else '?'}", "other")


def _function_before(chain, at):
    return next((o for o in reversed(chain[:at]) if isinstance(o, types.FunctionType)), None)


def _global(item, namespace, name, word):
    name = name or "?"
    file = namespace.get("__file__") or ""
    line = _file_line(file, name)
    kind = word or "global"
    what = f'{word or "variable"} "{name}"'
    where = _at(file, line) or f" in module {namespace['__name__']}"
    return _holder(item, f"{what}{where}", kind, name=name, file=file,
                   line=line)  # fmt: skip


def _attribute(item, instance, name, word):
    name = name or "?"
    owner = type(instance)
    file = links.file_of(owner)
    line = _file_line(file, name)
    listed = f" ({word})" if word else ""
    words = f"attribute {owner.__name__}.{name}{listed}{_at(file, line)}"
    return _holder(item, words, "attribute", name=name, file=file, line=line)


def _local(item, root, obj, child):
    word = links.word_of(obj) if obj is not child else ""
    line = _file_line(root.file, root.name, root)
    if not word and not isinstance(obj, _tidemark.Tensor):
        word = type(obj).__name__
    what = f'{word or "variable"} "{root.name}"'
    words = f"{what} in {root.function}(){_at(root.file, line)}"
    kind = word if word in ("list", "dict", "tuple", "set", "deque") else "local"
    return _holder(item, words, kind, name=root.name, file=root.file, line=line,
                   thread=root.thread)  # fmt: skip


# --- holders of the runtime ------------------------------------------------------------------


def _special(item, root, path):
    last = path[-1]
    trace = next((o for o in path if isinstance(o, types.TracebackType)), None)
    if trace is not None:
        return _traceback(item, path, trace)
    if isinstance(last, _tidemark.Tape):
        return _tape(item, last)
    if isinstance(last, _tidemark.VariableBase):
        name = str(getattr(last, "name", "")).removesuffix(":0")
        return _holder(item, f'variable "{name}"', "variable", name=name)
    if isinstance(last, _tidemark.FinishedGraph):
        return _trace(item, path)
    if isinstance(last, (_tidemark.SharedGraph, _tidemark.NodeHandle)):
        return _holder(item, "constant in a graph", "constant")
    return None


def _session(item, path):
    """What a session keeps: values of its variables, and what its plans need in every run."""
    session = path[-2] if len(path) > 1 else path[-1]
    where = getattr(session, "_opened_at", None)
    at = f" opened at {where}" if where else ""
    file, line, _ = source.parse_place(where)
    file = source.full_path(file) if file else ""
    for words, is_of in (("variables", True), ("plans", False)):
        groups = {k: v for k, v in item["groups"].items() if (k[2] == "variable") == is_of}
        if not groups:
            continue
        whole = len(groups) == len(item["groups"])
        part = {"bytes": sum(groups.values()), "count": item["count"] if whole else len(groups),
                "groups": groups,
                "requested": {k: item["requested"][k] for k in groups}}  # fmt: skip
        yield _holder(part, f"{words} of the session{at}", "session" if is_of else "constant",
                      file=file if is_of else "", line=line if is_of else 0)  # fmt: skip


def _traceback(item, path, trace):
    while trace.tb_next is not None:
        trace = trace.tb_next
    error = next((o for o in path if isinstance(o, BaseException)), None)
    name = type(error).__name__ if error is not None else "error"
    file, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
    first = next(o for o in path if isinstance(o, types.TracebackType))
    caught = first.tb_lineno
    words = f"traceback of the {name} caught{_at(first.tb_frame.f_code.co_filename, caught)}"
    del trace, first, error
    return _holder(item, words, "traceback", name=name, file=file, line=line)


def _tape(item, tape):
    where = getattr(tape, "_made_at", None)
    kind = "GradientTape (persistent)" if tape._persistent else "GradientTape"
    made = f" made at {where}" if where else ""
    recording = ", still recording" if tape._recording else ""
    file, line, _ = source.parse_place(where)
    return _holder(item, f"{kind}{made}{recording}", "tape", name=kind,
                   file=source.full_path(file) if file else "", line=line)  # fmt: skip


def _trace(item, path):
    function = next((o for o in reversed(path) if isinstance(o, _tidemark.FunctionBase)), None)
    graph = path[-1]
    if function is None:
        return _holder(item, "constant in a graph", "constant")
    traces = list(getattr(function, "_traces", ()))
    number = next((n for n, t in enumerate(traces, 1) if t.graph is graph), len(traces))
    name = getattr(function, "_name", "function")
    code = getattr(getattr(function, "_python_function", None), "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code else ("", 0)
    return _holder(item, f"constant in trace {number} of {name}()", "constant", name=name,
                   file=file, line=line)  # fmt: skip


def _with_owner(path):
    """A way that begins with an instance's own dict begins with the instance."""
    first = path[0]
    if not isinstance(first, dict):
        return path
    owner = next((o for o in gc.get_referrers(first)
                  if links.is_instance(o) and links.own_dict(o) is first), None)  # fmt: skip
    return path if owner is None else [owner, *path]


def cycle(item):
    names = []
    item = {**item, "path": _with_owner(item["path"])}
    for obj in item["path"]:
        name = type(obj).__name__
        if isinstance(obj, dict) and names:
            continue  # an instance's own
        if name not in names:
            names.append(name)
    owners = [o for o in item["path"] if links.is_instance(o)] or item["path"]
    owner = type(owners[-1])
    file = links.file_of(owner)
    line = source.class_line(owner.__name__, file)
    if names[-1] != owner.__name__ and owner.__name__ in names:
        names = [owner.__name__]
    words = f"reference cycle of {' → '.join(names[:4])}{_at(file, line)}"
    # A library's own cycles are no doing of the program's, which could not break them either.
    kind = "cycle" if links.leads_to_the_program(item["path"][0]) else "library's cycle"
    holder = _holder(item, words, kind, name=names[0], file=file, line=line)
    holder.add_way(_cycle_links(item), holder.groups)
    return holder


def _cycle_links(item):
    """The shortest cycle that keeps it, and the way from there."""
    path, names = links.without_own_dicts(item["path"], [None, *item["edges"]])
    sample, _, _, name = item["samples"][0] if item["samples"] else (path[-1], 0, "", None)
    for obj in reversed(path):
        way = links.shortest_cycle(obj) if not isinstance(obj, dict) else None
        if way is not None:
            break
    else:
        return [(links.Link("a reference cycle", "cycle", is_root=True), 0)]
    return [(links.cycle_link(way), 0), *links.attribute_links(path[-1], sample, name)]


def on_the_stack(item):
    word = type(item["path"][0]).__name__
    if isinstance(item["path"][-1], _tidemark.Tape):
        return _tape(item, item["path"][-1])
    words = f"{word} of a running expression"
    return _holder(item, words, "running", name=word)
