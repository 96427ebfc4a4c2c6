"""``tensorflow.python.util.deprecation``: marks on old functions and arguments.

What is old works as before; the log says so once a function, unless silenced.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import threading

_state = threading.local()
_told = set()  # the functions that the log has named


def _tell(key, text):
    if key not in _told and not getattr(_state, "silent", 0):
        _told.add(key)
        logging.getLogger("tidemark").warning(text)


@contextlib.contextmanager
def silence():
    """A context in which nothing is said."""
    _state.silent = getattr(_state, "silent", 0) + 1
    try:
        yield
    finally:
        _state.silent -= 1


def _when(date):
    return "in a future version" if date is None else f"after {date}"


def deprecated(date, instructions, warn_once=True):
    """Marks a function or a class as old: calling it is told once."""

    def decorate(what):
        function = what.__init__ if inspect.isclass(what) else what
        name = getattr(what, "__qualname__", str(what))

        @functools.wraps(function)
        def old(*args, **kwargs):
            _tell(name, f"{name} is old and goes {_when(date)}: {instructions}")
            return function(*args, **kwargs)

        if not inspect.isclass(what):
            return old
        what.__init__ = old
        return what

    return decorate


def deprecated_args(date, instructions, *names_or_tuples, warn_once=True, **ok_values):
    """Marks arguments as old: giving one another value than an allowed one is told once.

    A name stands for an argument that should not be given at all, a pair for one that may have
    one value.
    """
    refused = {}
    for item in names_or_tuples:
        name, *allowed = item if isinstance(item, tuple) else (item,)
        refused[name] = allowed
    refused.update({name: [value] for name, value in ok_values.items()})

    def look(given):
        for name, allowed in refused.items():
            if name in given and not any(given[name] is value for value in allowed):
                yield name, name

    return _looking_at_arguments(look, date, instructions)


def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """Marks values of arguments as old."""

    def look(given):
        for name, value in deprecated_kwargs.items():
            if name in given and given[name] is value:
                yield name, f"{name}={value}"

    return _looking_at_arguments(look, date, instructions)


def _looking_at_arguments(look, date, instructions):
    """A decorator that tells of arguments: ``look(given)`` yields the name and the text of each."""

    def decorate(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def old(*args, **kwargs):
            with contextlib.suppress(TypeError):  # the function itself tells what is wrong
                for name, what in look(signature.bind(*args, **kwargs).arguments):
                    _tell(
                        (function.__qualname__, name),
                        f"{what} of {function.__qualname__} is old and goes {_when(date)}: "
                        f"{instructions}",
                    )
            return function(*args, **kwargs)

        return old

    return decorate


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True):
    """An old name of a function or a class."""
    if inspect.isclass(func_or_class):

        class Old(func_or_class):
            def __init__(self, *args, **kwargs):
                _tell(deprecated_name, f"{deprecated_name} is old; it is called {name} now")
                super().__init__(*args, **kwargs)

        Old.__name__ = Old.__qualname__ = func_or_class.__name__
        return Old

    @functools.wraps(func_or_class)
    def old(*args, **kwargs):
        _tell(deprecated_name, f"{deprecated_name} is old; it is called {name} now")
        return func_or_class(*args, **kwargs)

    return old


def deprecated_endpoints(*names):
    """Notes the old public names of a function."""

    def decorate(function):
        function._tf_deprecated_api_names = names
        return function

    return decorate


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """The value of an argument that has a new name and an old one."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
        return old_value
    return new_value


def rewrite_argument_docstring(old_doc, old_argument, new_argument):
    """Documentation with an argument renamed."""
    text = old_doc.replace(f"`{old_argument}`", f"`{new_argument}`")
    return text.replace(f"{old_argument}:", f"{new_argument}:")
