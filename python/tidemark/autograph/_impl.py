"""Calling functions through their conversion.

    step = converted(fn)     # the same signature; if, while and for over tensors are staged
    step(x)

A function is converted once for its code; what is made of the code for one function or closure
shares that function's globals and cells and lives no longer than its caller wants it.
"""

from __future__ import annotations

import functools
import inspect
import threading
import weakref

from tidemark import nest
from tidemark._graph.scopes import get_logger
from tidemark.autograph import _builtins, _errors, _rules
from tidemark.autograph._context import ControlStatusCtx, Options, Status, control_status_ctx
from tidemark.autograph._lists import StagedList
from tidemark.autograph._verbosity import log

_warned = weakref.WeakKeyDictionary()  # code of functions that could not be converted
_warned_lock = threading.Lock()


def converted(fn, *, recursive=True, features=None, user_requested=True):
    """A callable with the signature of ``fn`` that runs its converted code.

    It holds ``fn`` and nothing holds it. Errors raised in it point at the lines of the user.
    """
    if _rules.is_artifact(fn):
        return fn
    options = Options(recursive, user_requested, features)

    def call(*args, **kwargs):
        try:
            with ControlStatusCtx(Status.ENABLED, options):
                return _stacked(converted_call(fn, args, kwargs, None, options))
        except Exception as error:
            raise _errors.explained(error)  # noqa: B904  the very same error

    if hasattr(fn, "__name__"):
        functools.update_wrapper(call, fn)
    else:
        call.__wrapped__ = fn
    return _rules.as_artifact(call)


def _stacked(result):
    """What leaves converted code: a list that grew in a staged loop leaves it as one tensor."""
    if not any(isinstance(leaf, StagedList) for leaf in nest.flatten(result)):
        return result
    return nest.map_structure(
        lambda leaf: leaf.stack() if isinstance(leaf, StagedList) else leaf, result
    )


def unconverted(fn):
    """A callable that runs ``fn``, and what it calls, as they are."""

    def call(*args, **kwargs):
        with ControlStatusCtx(Status.DISABLED):
            return fn(*args, **kwargs)

    if hasattr(fn, "__name__"):
        functools.update_wrapper(call, fn)
    else:
        call.__wrapped__ = fn
    return _rules.as_artifact(call)


def tf_convert(fn, ctx, convert_by_default=True, user_requested=False):
    """For libraries that call functions of their users: converts ``fn`` if ``ctx`` says so."""
    if _rules.is_artifact(fn):
        return fn
    enabled = ctx.status is Status.ENABLED
    if enabled or (ctx.status is Status.UNSPECIFIED and convert_by_default):
        return converted(fn, user_requested=user_requested)
    return unconverted(fn)


def converted_call(function, args, kwargs, scope=None, options=None):
    """Calls a function from converted code; ``scope`` is that of the caller."""
    log(3, "Converted call: %s", function)
    kwargs = kwargs or {}
    options = scope.callopts if options is None else options
    if control_status_ctx().status is Status.DISABLED or _rules.is_artifact(function):
        return function(*args, **kwargs)
    if isinstance(function, functools.partial):
        return converted_call(
            function.func,
            (*function.args, *args),
            {**function.keywords, **kwargs},
            scope,
            options,
        )
    if inspect.isbuiltin(function) or any(function is kind for kind in _BUILTIN_TYPES):
        return _call_builtin(function, args, kwargs, scope)
    if _rules.is_unsupported(function):
        return function(*args, **kwargs)
    if not options.user_requested:
        if not options.recursive:
            return function(*args, **kwargs)
        if _rules.is_exempt(function):
            return _call_exempt(function, args, kwargs)
    return _call_converted(function, args, kwargs, options)


_BUILTIN_TYPES = (float, int, enumerate, zip, map, range, super)


def _call_builtin(function, args, kwargs, scope):
    if scope is not None:
        if function is super and not args:
            return _builtins.super_(scope)
        if function is eval:
            return _builtins.eval_(args, scope)
        if function is locals:
            return _builtins.locals_(scope)
        if function is globals:
            return _builtins.globals_(scope)
    overload = _builtins.OVERLOADS.get(function)
    if overload is not None:
        return overload(*args, **kwargs)
    return _call_exempt(function, args, kwargs)


def _call_exempt(function, args, kwargs):
    from tidemark.autograph._operators import list_aware  # it imports this module

    return list_aware(function, args)(*args, **kwargs)


def _call_converted(function, args, kwargs, options):
    target = _rules.target_of(function, args)
    if target is None:
        return function(*args, **kwargs)
    target, args = target
    if target.__code__.co_flags & _rules._NOT_CONVERTED:
        return target(*args, **kwargs)
    try:
        from tidemark.autograph import _convert  # it imports this module

        run = _convert.convert(target, options)
    except Exception as error:
        _warn_once(function, target, error)
        return target(*args, **kwargs)
    return run(*args, **kwargs)


def _warn_once(function, target, error):
    with _warned_lock:
        if target.__code__ in _warned:
            return
        _warned[target.__code__] = True
    get_logger().warning(
        "AutoGraph could not transform %s and will run it as-is.\nCause: %s\nTo silence this "
        "warning, decorate the function with @tf.autograph.experimental.do_not_convert",
        function,
        error,
    )
