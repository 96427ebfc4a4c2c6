"""What a function's code reads from outside of it: names, and attributes and items of them.

``reads(code)`` gives paths such as ``("global", "config", ".rate")`` or ``("free", "table", [3])``
with the line of their first use, found once for each code object.
"""

from __future__ import annotations

import dis
import types
import weakref

_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")
_FREE = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")
_SAYS_NOTHING = ("CACHE", "EXTENDED_ARG", "NOP", "RESUME", "PRECALL")
# Called on a value, these change it and tell the caller nothing of it.
_ONLY_CHANGE = frozenset(("add", "append", "clear", "extend", "insert", "update", "write"))
_MOST_PATHS = 256

_known = weakref.WeakKeyDictionary()  # code → {path: line}


class Attribute(str):
    """A step of a path: an attribute of that name."""

    __slots__ = ()


class Item:
    """A step of a path: the item with that key."""

    __slots__ = ("key",)

    def __init__(self, key):
        self.key = key

    def __eq__(self, other):
        same = isinstance(other, Item) and type(self.key) is type(other.key)
        return same and self.key == other.key

    def __hash__(self):
        return hash((Item, self.key))


def reads(code):
    """{path: line of its first use} of the code and of the code inside of it."""
    found = _known.get(code)
    if found is None:
        found = {}
        _find(code, found)
        _known[code] = found
    return found


def text_of(path):
    """The path as it is written in Python."""
    import json  # loaded on first use

    _, name, *steps = path
    return name + "".join(
        f".{step}" if isinstance(step, Attribute) else f"[{json.dumps(step.key)}]" for step in steps
    )


class _Chain:
    """The path that is on top of the interpreter's stack, while it grows."""

    def __init__(self, found):
        self._found, self._path, self._line, self._key = found, None, 0, None

    def start(self, path, line):
        self.end()
        self._path, self._line = path, line

    def attribute(self, name):
        if self._key is not None:
            self.end()
        elif self._path is None:
            return
        elif name in _ONLY_CHANGE:
            self._path = None
        else:
            self._path = (*self._path, Attribute(name))

    def constant(self, value):
        if self._path is not None and self._key is None and isinstance(value, (str, int)):
            self._key = Item(value)
        else:
            self.end()

    def item(self):
        if self._key is None:
            return self.end()
        self._path, self._key = (*self._path, self._key), None

    def end(self):
        """Something else is done with the value: it was read."""
        if self._path is not None and len(self._found) < _MOST_PATHS:
            self._found.setdefault(self._path, self._line)
        self._path = self._key = None


def _find(code, found):
    chain, line = _Chain(found), code.co_firstlineno
    for instruction in dis.get_instructions(code):
        positions = getattr(instruction, "positions", None)
        if positions is not None:
            line = positions.lineno or line
        elif instruction.starts_line:
            line = int(instruction.starts_line)
        name, value = instruction.opname, instruction.argval
        if name in _SAYS_NOTHING:
            continue
        if name in _GLOBAL:
            chain.start(("global", value), line)
        elif name in _FREE:
            chain.start(("free", value), line)
        elif "LOAD_FAST" in name:
            chain.start(("local", value[-1] if isinstance(value, tuple) else value), line)
        elif name in _ATTRIBUTE:
            chain.attribute(value)
        elif name in ("LOAD_CONST", "LOAD_SMALL_INT"):
            chain.constant(value)
        elif name == "BINARY_SUBSCR" or (name == "BINARY_OP" and instruction.argrepr == "[]"):
            chain.item()
        else:
            chain.end()
        if isinstance(value, types.CodeType):
            _find(value, found)
    chain.end()
