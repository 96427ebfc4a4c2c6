"""Which Python name stands for what.

Ops whose definition lists Python names come from the extension as they are; functions written in
Python carry theirs in the decorator ``export``. A namespace (``tf``, ``tf.math``, …) takes what was
exported under it.
"""

from __future__ import annotations

import functools
import importlib
import sys
import types

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
        public = _asking_too(function) if _all_ask else function
        for name in names:
            _place(name, public)
        return function

    return decorate


def dispatching(function, errors=(TypeError, ValueError)):
    """A function that asks the types of its arguments before it gives up on them.

    Functions of the extension do so themselves: see ``__tf_dispatch__``.
    """

    @functools.wraps(function)
    def asking(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except errors:
            for value in _values(args, kwargs):
                ask = getattr(type(value), "__tf_dispatch__", None)
                answer = NotImplemented if ask is None else ask(asking, args, kwargs)
                if answer is not NotImplemented:
                    return answer
            raise

    asking.asks_types = True
    return asking


# These take functions, or values that are none of a tensor, and ask nobody.
_ASK_NOBODY = {"tf.case", "tf.cond", "tf.constant", "tf.function", "tf.make_tensor_proto",
               "tf.map_fn", "tf.numpy_function", "tf.py_function", "tf.scan",
               "tf.while_loop"}  # fmt: skip
_all_ask = False


def let_all_ask():
    """From now on every public function asks the types of its arguments, not only those that are
    likely to meet others: a library has registered a dispatcher for all of them."""
    global _all_ask
    if _all_ask:
        return
    _all_ask = True
    made = {}
    for namespace, names in _NAMESPACES.items():
        module = sys.modules.get("tidemark" + namespace.removeprefix("tf"))
        for last, what in names.items():
            if type(what) is not types.FunctionType:
                continue
            if what not in made:
                made[what] = _asking_too(what)
            names[last] = made[what]
            if module is not None and vars(module).get(last) is what:
                setattr(module, last, made[what])


def _asking_too(function):
    names = getattr(function, "__tf_names__", ())
    if getattr(function, "asks_types", False) or _ASK_NOBODY.intersection(names):
        return function
    return dispatching(function, (TypeError, ValueError, AttributeError))


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
