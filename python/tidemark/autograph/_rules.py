"""Which functions are converted when converted code calls them."""

from __future__ import annotations

import functools
import inspect
import sys
import types

# Modules whose functions run as they are: they are written for tensors, or know nothing of them.
_LEFT_ALONE = (
    "absl.logging", "collections", "copy", "cProfile", "inspect", "ipdb", "keras", "linecache",
    "malt", "matplotlib", "mock", "numpy", "pandas", "pathlib", "pdb", "PIL", "posixpath", "pstats",
    "re", "tensorflow", "tensorflow_datasets.core", "tensorflow_probability", "tf_keras",
    "threading", "tidemark", "urllib",
)  # fmt: skip


@functools.lru_cache(maxsize=4096)
def is_left_alone(module):
    """Whether the functions of a module run unconverted."""
    return any(module == name or module.startswith(name + ".") for name in _LEFT_ALONE)


def _module_of(entity):
    """Where a callable's code was written, whatever functools.wraps says of it."""
    function = entity.__func__ if inspect.ismethod(entity) else entity
    if isinstance(function, types.FunctionType):
        module = function.__globals__.get("__name__")
    else:
        module = getattr(entity, "__module__", None)
    return module if isinstance(module, str) else ""


def is_artifact(function):
    """Whether the function is converted already, or not to be converted."""
    return hasattr(function, "__autograph_artifact__")


def as_artifact(function):
    """Marks a function so that it is called as it is."""
    target = function.__func__ if inspect.ismethod(function) else function
    target.__autograph_artifact__ = True
    return function


def is_unsupported(entity):
    """Whether a callable has no code that could be converted."""
    if inspect.isclass(entity):
        return True  # a constructor
    if isinstance(entity, functools._lru_cache_wrapper):
        return True
    wrapt = sys.modules.get("wrapt")
    wrapper = getattr(wrapt, "FunctionWrapper", None)
    bound = getattr(wrapt, "BoundFunctionWrapper", None)
    return wrapper is not None and isinstance(entity, (wrapper, bound))


def is_exempt(entity):
    """Whether a callable is one that runs as it is unless its conversion was asked for."""
    if is_left_alone(_module_of(entity)):
        return True
    code = _code_of(entity)
    if code is not None and code.co_flags & _NOT_CONVERTED:
        return True
    if inspect.ismethod(entity):
        return _is_exempt_method(entity)
    if not inspect.isroutine(entity):
        call = getattr(type(entity), "__call__", None)  # noqa: B004  the function itself
        return call is None or _module_of(call) == "" or is_left_alone(_module_of(call))
    return False


# Functions whose calls only make an object that runs later.
_NOT_CONVERTED = (
    inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    | inspect.CO_ITERABLE_COROUTINE
)  # fmt: skip


def _code_of(entity):
    function = entity.__func__ if inspect.ismethod(entity) else entity
    return getattr(function, "__code__", None)


def _is_exempt_method(method):
    unittest = sys.modules.get("unittest")
    owner = method.__self__ if inspect.isclass(method.__self__) else type(method.__self__)
    if unittest is not None and issubclass(owner, unittest.TestCase):
        return True
    for kind in owner.__mro__:
        if kind.__dict__.get(method.__name__) is not None:
            return is_left_alone(_module_of(kind)) or is_namedtuple(kind)
    return False


def is_namedtuple(kind):
    return inspect.isclass(kind) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def target_of(function, args):
    """The Python function behind a callable, and its arguments; None if there is none."""
    if inspect.ismethod(function):
        return function.__func__, (function.__self__, *args)
    if inspect.isfunction(function):
        return function, args
    call = getattr(type(function), "__call__", None)  # noqa: B004  the function itself
    if isinstance(call, types.FunctionType):
        return call, (function, *args)
    return None
