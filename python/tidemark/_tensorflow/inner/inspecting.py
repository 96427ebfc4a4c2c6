"""``tensorflow.python.util.tf_inspect``: Python's ``inspect``, which sees through decorators."""

from __future__ import annotations

import collections
import functools
import inspect as _inspect

from tidemark.__internal__.decorator import unwrap

Parameter = _inspect.Parameter
Signature = _inspect.Signature
ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
FullArgSpec = _inspect.FullArgSpec


def _inner(thing):
    return unwrap(thing)[1]


def currentframe():
    return _inspect.currentframe().f_back


def getfullargspec(obj):
    """The arguments of a function, or of what a decorator says it takes."""
    for wrapper in unwrap(obj)[0]:
        told = getattr(wrapper, "decorator_argspec", None)
        if told is not None:
            return told
    return _inspect.getfullargspec(_inner(obj))


def getargspec(obj):
    """As getfullargspec, without arguments that only keywords give."""
    spec = getfullargspec(obj)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def signature(obj, *, follow_wrapped=True):
    return _inspect.signature(obj, follow_wrapped=follow_wrapped)


def getcallargs(*func_and_positional, **named):
    """Which argument gets which value in a call."""
    function, *positional = func_and_positional
    spec = getfullargspec(function)
    if _inspect.ismethod(function):
        positional.insert(0, function.__self__)
    open_ = [name for name in spec.args if name not in named]
    defaults = dict(zip(reversed(spec.args), reversed(spec.defaults or ()), strict=False))
    given = dict(zip(open_, positional, strict=False))
    return {**(spec.kwonlydefaults or {}), **defaults, **named, **given}


def stack(context=1):
    return _inspect.stack(context)[1:]


def getframeinfo(*args, **kwargs):
    return _inspect.getframeinfo(*args, **kwargs)


def _seeing_through(name):
    ask = getattr(_inspect, name)

    @functools.wraps(ask)
    def seeing(thing):
        return ask(_inner(thing))

    return seeing


getdoc = _inspect.getdoc
getmembers = _inspect.getmembers
getmodule = _inspect.getmodule
getmro = _inspect.getmro
isabstract = _inspect.isabstract
iscoroutinefunction = _seeing_through("iscoroutinefunction")
getfile = _seeing_through("getfile")
getsource = _seeing_through("getsource")
getsourcefile = _seeing_through("getsourcefile")
getsourcelines = _seeing_through("getsourcelines")
isbuiltin = _seeing_through("isbuiltin")
isclass = _seeing_through("isclass")
isframe = _seeing_through("isframe")
isfunction = _seeing_through("isfunction")
isgenerator = _seeing_through("isgenerator")
isgeneratorfunction = _seeing_through("isgeneratorfunction")
ismethod = _seeing_through("ismethod")
ismodule = _seeing_through("ismodule")
isroutine = _seeing_through("isroutine")
