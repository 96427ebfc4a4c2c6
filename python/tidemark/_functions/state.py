"""Python values that a trace has baked in, and whether they changed since."""

from __future__ import annotations

import dis
import types

_PLAIN = (int, float, complex, str, bytes, bool, type(None))
_MOST_ITEMS = 64


def _snapshot(value):
    """What a value was; None where nothing cheap tells."""
    if isinstance(value, _PLAIN):
        return ("value", value)
    if isinstance(value, (list, tuple)) and len(value) <= _MOST_ITEMS:
        return ("items", type(value), tuple(_item(item) for item in value))
    if isinstance(value, dict) and len(value) <= _MOST_ITEMS:
        items = tuple((_item(key), _item(item)) for key, item in value.items())
        return ("items", type(value), items)
    if isinstance(value, (list, tuple, dict, set)):
        return ("size", type(value), len(value))
    return None


def _item(value):
    return value if isinstance(value, _PLAIN) else id(value)


def _names(code, found):
    """Global and closed-over names that code loads, with the line of the first use."""
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno if hasattr(instruction, "positions") else None
        line = line or code.co_firstlineno
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found.setdefault(("global", instruction.argval), line)
        elif instruction.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
            found.setdefault(("free", instruction.argval), line)
        elif isinstance(instruction.argval, types.CodeType):
            _names(instruction.argval, found)


class Captured:
    """The Python values that a function reads from outside, as they were when it was traced."""

    __slots__ = ("_function_code", "_seen", "_globals", "_cells", "_is_reported")

    def __init__(self, function):
        function = getattr(function, "__func__", function)
        self._is_reported = False
        self._seen, self._globals, self._cells = {}, None, {}
        self._function_code = getattr(function, "__code__", None)
        if self._function_code is None:
            return
        self._globals = function.__globals__
        names = self._function_code.co_freevars
        self._cells = dict(zip(names, function.__closure__ or (), strict=False))
        found = {}
        _names(self._function_code, found)
        for name, line in found.items():
            snapshot = _snapshot(self._value(name))
            if snapshot is not None:
                self._seen[name] = (snapshot, line)

    def _value(self, name):
        where, key = name
        if where == "global":
            return self._globals.get(key, _missing)
        try:
            return self._cells[key].cell_contents
        except (KeyError, ValueError):
            return _missing

    def changed(self):
        """(name, file, line, then, now) of the first value that changed; None. Told once."""
        if self._is_reported:
            return None
        for name, (then, line) in self._seen.items():
            value = self._value(name)
            if value is _missing or _snapshot(value) == then:
                continue
            self._is_reported = True
            was = then[1] if then[0] == "value" else None
            return name[1], self._function_code.co_filename, line, was, value
        return None


_missing = object()
