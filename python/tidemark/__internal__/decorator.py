"""``tf.__internal__.decorator``: functions wrapped so that the inner one can be found again."""

from __future__ import annotations

import functools


class TFDecorator:
    """What is known of one wrapping: the function inside, and what the wrapper says it takes."""

    def __init__(self, decorator_name, target, decorator_doc="", decorator_argspec=None):
        self._decorated_target = target
        self.decorator_name = decorator_name
        self.decorator_doc = decorator_doc
        self.decorator_argspec = decorator_argspec
        self.__name__ = getattr(target, "__name__", decorator_name)
        self.__wrapped__ = target

    @property
    def decorated_target(self):
        return self._decorated_target

    @decorated_target.setter
    def decorated_target(self, target):
        self._decorated_target = self.__wrapped__ = target

    def __call__(self, *args, **kwargs):
        return self._decorated_target(*args, **kwargs)


def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="",
                   decorator_argspec=None):  # fmt: skip
    """``decorator_func`` with the name, documentation and signature of ``target``."""
    made = functools.update_wrapper(decorator_func, target)
    name = decorator_name or getattr(decorator_func, "__name__", "decorator")
    made._tf_decorator = TFDecorator(name, target, decorator_doc, decorator_argspec)
    return made


def unwrap(maybe_tf_decorator):
    """The wrappers around a function, outermost first, and the function itself."""
    wrappers, inner = [], maybe_tf_decorator
    while True:
        mark = inner if isinstance(inner, TFDecorator) else _mark_of(inner)
        if mark is None:
            return wrappers, inner
        wrappers.append(mark)
        inner = mark.decorated_target


def _mark_of(function):
    """The note that make_decorator left; wraps() around a marked function copies it, too. Functions
    of our own that wraps() made say what the function inside takes; those of programs take what
    they say themselves."""
    mark = getattr(function, "_tf_decorator", None)
    if isinstance(mark, TFDecorator):
        return mark
    is_own = (getattr(function, "__module__", None) or "").startswith("tidemark")
    if not is_own or not hasattr(function, "__wrapped__"):
        return None
    return TFDecorator("wraps", function.__wrapped__)
