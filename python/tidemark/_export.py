"""Which Python name stands for what.

Ops whose definition lists Python names come from the extension as they are; functions written in
Python carry theirs in the decorator ``export``. A namespace (``tf``, ``tf.math``, …) takes what was
exported under it.
"""

from __future__ import annotations

import functools
import importlib

from tidemark import _tidemark

OPS = _tidemark.op_functions()  # "tf.math.add" → the function
_NAMESPACES: dict[str, dict[str, object]] = {}


def _place(name, what):
    namespace, _, last = name.rpartition(".")
    _NAMESPACES.setdefault(namespace, {})[last] = what


for _name, _function in OPS.items():
    _place(_name, _function)


def export(*names):
    """Gives a function its public names; the first is the canonical one."""

    def decorate(function):
        function.__tf_names__ = names
        for name in names:
            _place(name, function)
        return function

    return decorate


def dispatching(function):
    """A function that asks the types of its arguments before it gives up on them.

    Functions of the extension do so themselves: see ``__tf_dispatch__``.
    """

    @functools.wraps(function)
    def asking(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            for value in _values(args, kwargs):
                ask = getattr(type(value), "__tf_dispatch__", None)
                answer = NotImplemented if ask is None else ask(asking, args, kwargs)
                if answer is not NotImplemented:
                    return answer
            raise

    return asking


def _values(args, kwargs):
    """The arguments, and what is in those that are lists."""
    for value in (*args, *kwargs.values()):
        yield value
        if isinstance(value, (list, tuple)):
            yield from value


def replace(old, new):
    """Puts another function in place of one, under all its names."""
    for names in _NAMESPACES.values():
        for last, what in names.items():
            if what is old:
                names[last] = new


def refusing(space):
    """A module's ``__getattr__``: what is not supported of TensorFlow's names there says why."""

    def __getattr__(name):
        if not name.startswith("_"):
            # Few programs ask for such names; their table is read then.
            unsupported = importlib.import_module("tidemark._tensorflow.unsupported")
            found = unsupported.find(f"{space}.{name}")
            if found is not None:
                return found
        raise AttributeError(f"module 'tidemark{space[2:]}' has no attribute {name!r}")

    return __getattr__


def namespace(name):
    """What was exported under a namespace so far: last part of the name → the thing."""
    return _NAMESPACES.get(name, {})


def all_names():
    """Every full name exported so far."""
    return sorted(f"{space}.{last}" for space, names in _NAMESPACES.items() for last in names)
