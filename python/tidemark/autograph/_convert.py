"""From a function to the code that runs in its place.

What is generated is compiled under the file name and the lines of the user: nothing is written to
disk, put into ``sys.modules`` or added to ``linecache``.
"""

from __future__ import annotations
import __future__

import ast
import importlib.util
import inspect
import sys
import threading
import types
import weakref
from collections import OrderedDict

from tidemark.autograph import _names, _operators, _straight
from tidemark.autograph._context import Options
from tidemark.autograph._verbosity import log

_CACHE_BYTES = 32 << 20  # of generated code


class Generated:
    """The code made for one function's code."""

    __slots__ = ("factory", "freevars", "bytes")

    def __init__(self, factory, freevars):
        self.factory = factory  # code of a function that is given ag__ and returns the function
        self.freevars = freevars
        self.bytes = _code_bytes(factory)

    def instantiate(self, function):
        """The generated function over the globals, cells and defaults of the original."""
        cells = dict(zip(self.freevars, function.__closure__ or (), strict=True))
        closure = tuple(cells[name] for name in self.factory.co_freevars)
        factory = types.FunctionType(self.factory, function.__globals__, closure=closure)
        made = factory(_operators)
        made.__defaults__ = function.__defaults__
        made.__kwdefaults__ = function.__kwdefaults__
        made.__name__ = function.__name__
        made.__qualname__ = function.__qualname__
        made.__module__ = function.__module__
        return made


def _code_bytes(code):
    size = sys.getsizeof(code) + sys.getsizeof(code.co_code)
    for constant in code.co_consts:
        is_code = isinstance(constant, types.CodeType)
        size += _code_bytes(constant) if is_code else sys.getsizeof(constant)
    return size


class Cache:
    """Generated code by the code it was made from, which it does not keep alive.

    Bounded in bytes: what was not used for longest goes first.
    """

    def __init__(self, limit):
        self.limit = limit
        self.bytes = 0
        self._entries = OrderedDict()  # (id of the code, key of the options) → (weak code, entry)
        self._lock = threading.RLock()

    def __len__(self):
        return len(self._entries)

    def find(self, code, key):
        with self._lock:
            found = self._entries.get((id(code), key))
            if found is None or found[0]() is not code:
                return None
            self._entries.move_to_end((id(code), key))
            return found[1]

    def add(self, code, key, entry):
        place = (id(code), key)
        weak_self = weakref.ref(self)

        def forget(reference):
            cache = weak_self()
            if cache is not None:
                cache._remove(place, reference)

        with self._lock:
            self._entries[place] = (weakref.ref(code, forget), entry)
            self.bytes += entry.bytes
            while self.bytes > self.limit and len(self._entries) > 1:
                oldest = next(iter(self._entries))
                self._remove(oldest, self._entries[oldest][0])

    def _remove(self, place, reference):
        with self._lock:
            found = self._entries.get(place)
            if found is not None and found[0] is reference:
                del self._entries[place]
                self.bytes -= found[1].bytes


CACHE = Cache(_CACHE_BYTES)
_conversion = threading.RLock()  # one conversion at a time: malt's passes share state


def convert(function, options=None):
    """A function that does what ``function`` does, with its statements over tensors staged."""
    options = options or Options(user_requested=True)
    key = options.key()
    generated = CACHE.find(function.__code__, key)
    if generated is None:
        with _conversion:
            generated = CACHE.find(function.__code__, key)
            if generated is None:
                generated = generate(function, options)
                CACHE.add(function.__code__, key, generated)
    return generated.instantiate(function)


_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag


def generate(function, options):
    """Converts and compiles the source of a function."""
    code = function.__code__
    node, name = _tree(function, options)
    module = ast.fix_missing_locations(_factory(node, name, code))
    flags = code.co_flags & _FUTURE
    compiled = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    namespace = {}
    exec(compiled, namespace)
    factory = namespace["outer_factory"]().__code__
    log(2, "Converted %s:\n\n%s\n", function, lambda: ast.unparse(node))
    return Generated(_names.renamed(factory, function), code.co_freevars)


def _malt():
    """malt's passes, loaded without its own front end, which takes twice as long to load as they
    do and of which nothing is used. Programs that import malt themselves get all of it."""
    name = "tidemark.autograph._malt"
    known = sys.modules.get(name)
    if known is not None or "malt" in sys.modules:
        return known or importlib.import_module(name)
    found = importlib.util.find_spec("malt")
    if found is not None:
        sys.modules["malt"] = importlib.util.module_from_spec(found)
    try:
        return importlib.import_module(name)
    finally:
        for part in [m for m in sys.modules if m == "malt" or m.startswith("malt.")]:
            del sys.modules[part]


def _tree(function, options):
    """The tree of the converted function, a statement that defines it, and its name."""
    found = _straight.transformed(function, options)
    if found is not None:
        return found
    return _malt().transformed(function, options)


def _factory(node, name, code):
    """A function whose variables are the cells of the original, around one that is given ag__."""
    line = {"lineno": code.co_firstlineno, "col_offset": -1}
    line.update(end_lineno=line["lineno"], end_col_offset=-1)

    def define(function, parameters, body):
        arguments = ast.arguments(
            posonlyargs=[], args=[ast.arg(arg=p, **line) for p in parameters], kwonlyargs=[],
            kw_defaults=[], defaults=[],
        )  # fmt: skip
        return ast.FunctionDef(
            name=function, args=arguments, body=body, decorator_list=[], type_params=[], **line
        )

    def give_back(value):
        return ast.Return(ast.Name(value, ast.Load(), **line), **line)

    cells = [
        ast.Assign([ast.Name(cell, ast.Store(), **line)], ast.Constant(None, **line), **line)
        for cell in code.co_freevars
    ]
    inner = define("inner_factory", ["ag__"], [node, give_back(name)])
    outer = define("outer_factory", [], [*cells, inner, give_back("inner_factory")])
    return ast.Module(body=[outer], type_ignores=[])


def source_of(function, options):
    """The converted code as text."""
    with _conversion:
        node, _ = _malt().transformed(function, options)
    return ast.unparse(ast.fix_missing_locations(node)) + "\n"


def is_convertible(function):
    """Whether there is a Python function to convert."""
    return inspect.isfunction(function) or inspect.ismethod(function)
