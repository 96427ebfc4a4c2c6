"""``tf.__internal__.decorator``: functions wrapped so that the inner one can be found again."""

from __future__ import annotations

import functools


def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="",
                   decorator_argspec=None):  # fmt: skip
    """``decorator_func`` with the name, documentation and signature of ``target``."""
    return functools.update_wrapper(decorator_func, target)


def unwrap(maybe_tf_decorator):
    """The wrappers around a function, outermost first, and the function itself."""
    wrappers, inner = [], maybe_tf_decorator
    while hasattr(inner, "__wrapped__"):
        wrappers.append(inner)
        inner = inner.__wrapped__
    return wrappers, inner
