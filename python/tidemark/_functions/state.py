"""Python values that a trace has baked in, and whether they changed since.

Kept is what plain values were and which objects there were, never an object: the function gives the
way to them whenever somebody asks.
"""

from __future__ import annotations

import functools
import types

from tidemark import _tidemark
from tidemark._functions.reads import Attribute, reads, text_of
from tidemark.autograph import _rules

_PLAIN = (int, float, complex, str, bytes, bool, type(None))
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)
_MEMBERS = (types.MemberDescriptorType,)  # __slots__
_MOST_ITEMS = 64
_DEEPEST = 4
_missing = object()


def _snapshot(value):
    """What a value was; None where nothing cheap tells."""
    if isinstance(value, _PLAIN):
        return ("value", type(value), value)
    if isinstance(value, (list, tuple)) and len(value) <= _MOST_ITEMS:
        return ("items", type(value), tuple(_item(item) for item in value))
    if isinstance(value, dict) and len(value) <= _MOST_ITEMS:
        items = tuple((_item(key), _item(item)) for key, item in value.items())
        return ("items", type(value), items)
    if isinstance(value, (list, tuple, dict, set)):
        return ("size", type(value), len(value))
    if isinstance(value, (*_CODE, _tidemark.FunctionBase)):
        return None
    return ("object", type(value), id(value))


def _item(value):
    return value if isinstance(value, _PLAIN) else id(value)


def _attribute(value, name):
    """The attribute where reading it runs no code of the user's; else missing."""
    if isinstance(value, type):
        return _missing
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = {}
    if name in own:
        return own[name]
    for kind in type(value).__mro__:
        found = kind.__dict__.get(name, _missing)
        if found is _missing:
            continue
        if isinstance(found, _MEMBERS):
            try:
                return found.__get__(value, type(value))
            except AttributeError:
                return _missing
        return found if isinstance(found, (*_PLAIN, types.FunctionType)) else _missing
    return _missing


def _of(value, step):
    if isinstance(step, Attribute):
        return _attribute(value, step)
    if type(value) in (dict, list, tuple):
        try:
            return value[step.key]
        except (LookupError, TypeError):
            pass
    return _missing


class _Code:
    """A Python function and what it is bound to, for as long as somebody looks at them."""

    def __init__(self, function, objects):
        if isinstance(function, _tidemark.FunctionBase):
            function, objects = function._python_function, ()
        while isinstance(function, functools.partial):
            function = function.func
        if isinstance(function, types.MethodType):
            function, objects = function.__func__, (function.__self__, *objects)
        if not hasattr(function, "__code__") and callable(function):
            function, objects = type(function).__call__, (function, *objects)
        self.code = getattr(function, "__code__", None)
        if self.code is None:
            return
        self._globals = function.__globals__
        cells = zip(self.code.co_freevars, function.__closure__ or (), strict=False)
        self._cells = dict(cells)
        names = self.code.co_varnames[: self.code.co_argcount]
        self._arguments = dict(zip(names, objects, strict=False))
        self.is_users = not _rules.is_left_alone(function.__globals__.get("__name__") or "")

    def value(self, path):
        """(what is there now, the object it is an attribute of)."""
        kind, name, *steps = path
        value, owner = self._root(kind, name), None
        for step in steps:
            if value is _missing:
                break
            owner, value = value, _of(value, step)
        return value, owner

    def _root(self, kind, name):
        if kind == "global":
            return self._globals.get(name, _missing)
        if name in self._arguments:
            return self._arguments[name]
        try:
            return self._cells[name].cell_contents
        except (KeyError, ValueError):
            return _missing


class Captured:
    """The Python values that a function reads from outside, as they were when it was traced."""

    __slots__ = ("_seen", "_inner")

    def __init__(self, function, objects=(), depth=0, codes=()):
        """``objects``: what the first arguments are, the object of a method."""
        self._seen, self._inner = {}, {}
        code = _Code(function, objects)
        if code.code is None or code.code in codes:
            return
        codes = (*codes, code.code)
        for path in reads(code.code):
            if len(path) > 2 and not code.is_users:
                continue  # libraries know what they do with their objects
            if len(path) == 2 and path[0] == "local":
                continue  # an argument
            value, owner = code.value(path)
            if value is _missing:
                continue
            snapshot = _snapshot(value)
            if snapshot is not None:
                self._seen[path] = snapshot
            elif depth < _DEEPEST and _is_users_function(value):
                inner = Captured(value, _bound(value, owner), depth + 1, codes)
                if inner._seen or inner._inner:
                    self._inner[path] = inner

    def changed(self, function, objects=()):
        """(name, file, line, then, now) of the first value that changed; None. Told once."""
        if not self._seen and not self._inner:
            return None
        code = _Code(function, objects)
        for path, then in self._seen.items():
            value, _ = code.value(path)
            if value is _missing or _is_still(value, then):
                continue
            del self._seen[path]
            was = then[2] if then[0] == "value" else None
            line = reads(code.code)[path]
            return text_of(path), code.code.co_filename, line, was, value
        for path, inner in self._inner.items():
            value, owner = code.value(path)
            if not _is_users_function(value):
                continue
            found = inner.changed(value, _bound(value, owner))
            if found is not None:
                return found
        return None


def _is_still(value, then):
    """Whether the snapshot of the value would be the same; of items none is made."""
    kind, cls, items = then
    if kind != "items" or type(value) is not cls:
        return _is_same(_snapshot(value), then)
    if len(value) != len(items):
        return False
    if isinstance(value, dict):
        now = ((_item(key), _item(item)) for key, item in value.items())
    else:
        now = map(_item, value)
    return all(a is b or a == b for a, b in zip(now, items, strict=True))


def _is_same(now, then):
    return now == then or (now is not None and now[-1] != now[-1] and then[-1] != then[-1])  # nan


def _is_users_function(value):
    if isinstance(value, _tidemark.FunctionBase):
        return True
    return isinstance(value, types.FunctionType) and not _rules.is_left_alone(
        value.__module__ or ""
    )


def _bound(value, owner):
    """What a function found as an attribute is bound to."""
    is_method = owner is not None and not isinstance(owner, types.ModuleType)
    return (owner,) if is_method and isinstance(value, types.FunctionType) else ()
