"""TensorFlow's inner modules (``tensorflow.python.…``, ``tensorflow.core.…``) over public things.

    find("python.ops.math_ops").reduce_sum      # is tf.reduce_sum

A module is made when it is imported, a name in it when it is asked for. ``public_names.tsv``, by
tools/record_inner_names.py, says which inner names are public ones; ``homes.py`` says where others
are written. What is in neither is not there: asking for it is an ``AttributeError``.
"""

from __future__ import annotations

import functools
import importlib
import pathlib
import types

from tidemark._tensorflow.inner.homes import HOMES, homes_of

_HERE = "tidemark._tensorflow.inner"


@functools.cache
def _recorded():
    """TensorFlow's inner modules: name → what public_names.tsv says they hold."""
    text = (pathlib.Path(__file__).parent / "public_names.tsv").read_text()
    return dict(line.partition("\t")[::2] for line in text.splitlines())


@functools.cache
def _packages():
    """The names of all modules that others are in."""
    found = set()
    for name in (*_recorded(), *HOMES):
        while "." in name:
            name = name.rpartition(".")[0]
            found.add(name)
    return found


@functools.cache
def find(name):
    """The module ``tensorflow.<name>``; None if TensorFlow has none or nothing of it is known."""
    if name.startswith("core.") and name.endswith("_pb2"):
        return _messages(name)
    if name in _packages() or name in _recorded() or homes_of(name):
        return InnerModule(name)
    return None


def _messages(name):
    if name not in _recorded():
        return None
    return importlib.import_module(f"{_HERE}.messages").module(name)


class InnerModule(types.ModuleType):
    """A module whose names are found when they are asked for."""

    def __init__(self, name):
        super().__init__(f"tensorflow.{name}", f"TensorFlow's inner module ``{name}``.")
        self.__path__ = []
        self._own = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        for home in homes_of(self._own):
            found = getattr(_loaded(home), name, None)
            if found is not None:
                setattr(self, name, found)
                return found
        found = _public(self._own, name)
        if found is None and self._own.startswith("python.ops."):
            found = importlib.import_module(f"{_HERE}.generated").function(name)
        if found is None:
            raise AttributeError(
                f"module 'tensorflow.{self._own}' has no attribute {name!r} in Tidemark; inner "
                "names are there where packages need them, public ones always"
            )
        setattr(self, name, found)
        return found

    def __dir__(self):
        own = {name for home in homes_of(self._own) for name in dir(_loaded(home))}
        return sorted({*own, *_public_names(self._own)})


def _loaded(home):
    """A module of this package, or a namespace that is an attribute of one."""
    try:
        return importlib.import_module(home)
    except ModuleNotFoundError:
        parent, _, last = home.rpartition(".")
        return getattr(importlib.import_module(parent), last)


@functools.cache
def _public_names(module):
    """inner name → public name, of one module."""
    found = {}
    for group in _recorded().get(module, "").split():
        space, _, names = group.partition(":")
        for name in names.split(","):
            inner, _, public = name.partition("=")
            found[inner] = f"{space}.{public or inner}"
    return found


def _public(module, name):
    public = _public_names(module).get(name)
    found = public and importlib.import_module("tidemark")
    for part in (public or "").split(".")[1:]:
        found = getattr(found, part, None)
    return found
