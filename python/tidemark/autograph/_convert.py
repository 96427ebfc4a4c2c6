"""From the source of a function to the code that runs in its place.

The passes that make statements into calls of functions are diastatic-malt's, imported when the
first function is converted. The code they give is compiled under the file name and the lines of the
user, so nothing is written to disk, put into ``sys.modules`` or added to ``linecache``.
"""

from __future__ import annotations

import ast
import importlib.util  # noqa: F401  malt uses it without importing it
import inspect
import sys
import threading
import types
import weakref
from collections import OrderedDict

from malt.converters import (
    break_statements,
    call_trees,
    conditional_expressions,
    continue_statements,
    functions,
    logical_expressions,
    return_statements,
    variables,
)
from malt.pyct import (
    anno,
    cfg,
    inspect_utils,
    naming,
    origin_info,
    parser,
    qual_names,
    transformer,
    transpiler,
)
from malt.pyct.static_analysis import activity, reaching_definitions

from tidemark.autograph import _operators, _passes, _positions
from tidemark.autograph._context import Options

_CACHE_BYTES = 32 << 20  # of generated code


class _UserContext:
    """What malt's passes ask for."""

    def __init__(self, options):
        self.options = options


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


def generate(function, options):
    """Converts and compiles the source of a function."""
    code = function.__code__
    nodes, name = _transformed(function, options)
    tree = transpiler._wrap_into_factory(
        nodes, name, "inner_factory", "outer_factory", code.co_freevars, ("ag__",),
        inspect_utils.getfutureimports(function),
    )  # fmt: skip
    module = ast.Module(body=list(tree), type_ignores=[])
    _positions.place(module, code.co_firstlineno)
    compiled = compile(module, code.co_filename, "exec", dont_inherit=True)
    namespace = {}
    exec(compiled, namespace)
    factory = namespace["outer_factory"]().__code__
    return Generated(_positions.renamed(factory, function), code.co_freevars)


def source_of(function, options):
    """The converted code as text."""
    with _conversion:
        nodes, _ = _transformed(function, options)
    return ast.unparse(ast.fix_missing_locations(nodes)) + "\n"


def _transformed(function, options):
    """The tree of the converted function, and its name."""
    features = inspect_utils.getfutureimports(function)
    try:
        node, source = parser.parse_entity(function, features)
    except (OSError, TypeError) as error:
        raise ValueError(
            f"Unable to locate the source code of {function}. Functions defined in the interactive "
            "Python shell or by exec do not have any; define them in a .py file. "
            f"Original error: {error}"
        ) from error
    code = function.__code__
    _resolve_lines(node, source, code)
    namespace = inspect_utils.getnamespace(function)
    namer = naming.Namer(namespace)
    plain = "lambda" if isinstance(node, ast.Lambda) else node.name
    name = namer.new_symbol("tf__" + plain, ())
    info = transformer.EntityInfo(name, source, code.co_filename, features, namespace)
    context = transformer.Context(info, namer, _UserContext(options))
    node = _without_defaults(node)
    node = _passed(node, context, function)
    if isinstance(node, ast.Lambda):
        node = ast.Assign(targets=[ast.Name(name, ctx=ast.Store())], value=node)
    else:
        node.name = name
    return node, name


def _resolve_lines(node, source, code):
    """Notes at every node the user's line that it comes from."""
    lines = source.split("\n")
    indented = lines[0] if lines else ""
    column = len(indented) - len(indented.lstrip())
    origin_info.resolve(node, source, code.co_filename, code.co_firstlineno, column)


def _without_defaults(node):
    """Default values are set from the original function, not computed again."""
    arguments = node.args
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(None) for d in arguments.kw_defaults]
    return node


def _passed(node, context, function):
    """The tree after all passes."""
    _passes.check_supported(node)
    node = _passes.mangle(node, function)
    node = _passes.mark_lists(node)
    graphs = cfg.build(node)
    node = qual_names.resolve(node)
    node = activity.resolve(node, context, None)
    node = reaching_definitions.resolve(node, context, graphs)
    anno.dup(node, {anno.Static.DEFINITIONS: anno.Static.ORIG_DEFINITIONS})
    _passes.forget_operators(node)

    node = functions.transform(node, context)
    node = _passes.take_directives(node, context)
    node = break_statements.transform(node, context)
    node = _passes.convert_asserts(node)
    node = continue_statements.transform(node, context)
    node = return_statements.transform(node, context)
    node = call_trees.transform(node, context)
    node = _passes.convert_control_flow(node, context)
    node = conditional_expressions.transform(node, context)
    node = logical_expressions.transform(node, context)
    return variables.transform(node, context)


def is_convertible(function):
    """Whether there is a Python function to convert."""
    return inspect.isfunction(function) or inspect.ismethod(function)
