"""``tf.__internal__.dispatch``: a type answers for functions that cannot take its values.

A class defines ``__tf_dispatch__(function, args, kwargs)`` as a class method; functions of this
package ask it before they give up. Libraries written for TensorFlow register dispatchers instead,
for one function or for all; ``ask`` asks them.
"""

from __future__ import annotations

import inspect as _inspect

from tidemark._export import dispatching as _dispatching
from tidemark._export import let_all_ask as _let_all_ask


def add_dispatch_support(target=None, iterable_parameters=None):
    """Lets a function written elsewhere ask the types of its arguments, too."""
    return _dispatching if target is None else _dispatching(target)


class OpDispatcher:
    """Answers for one function: subclasses define ``handle(args, kwargs)``."""

    NOT_SUPPORTED = object()

    def handle(self, args, kwargs):
        return self.NOT_SUPPORTED

    def register(self, op):
        # Under the function itself: TensorFlow 1's names are functions around it.
        _for_one.setdefault(_inspect.unwrap(op), []).append(self)


class GlobalOpDispatcher:
    """Answers for all functions: subclasses define ``handle(op, args, kwargs)``."""

    NOT_SUPPORTED = OpDispatcher.NOT_SUPPORTED

    def handle(self, op, args, kwargs):
        return self.NOT_SUPPORTED

    def register(self):
        _for_all.append(self)
        _let_all_ask()


_for_one: dict = {}
_for_all: list = []


def ask(function, args, kwargs):
    """What a registered dispatcher says that a call gives; NotImplemented if none knows."""
    for dispatcher in _for_one.get(_inspect.unwrap(function), ()):
        answer = dispatcher.handle(args, kwargs)
        if answer is not OpDispatcher.NOT_SUPPORTED:
            return answer
    for dispatcher in _for_all:
        answer = dispatcher.handle(function, args, kwargs)
        if answer is not OpDispatcher.NOT_SUPPORTED:
            return answer
    return NotImplemented


def dispatch_for_types(op, *types):
    """A decorator: the function answers for another where an argument is of one of the types."""

    def decorate(function):
        class ForTypes(OpDispatcher):
            def handle(self, args, kwargs):
                if any(isinstance(value, types) for value in (*args, *kwargs.values())):
                    return function(*args, **kwargs)
                return self.NOT_SUPPORTED

        ForTypes().register(op)
        for cls in types:
            if not hasattr(cls, "__tf_dispatch__"):
                cls.__tf_dispatch__ = staticmethod(ask)
        return function

    return decorate
