"""Names of TensorFlow that are known here and not supported, each with the reason.

Asking for one gives something that can be named, compared with ``isinstance`` and subclassed, and
that raises ``tf.errors.UnimplementedError`` with the reason when it is used. The table,
refused_names.tsv, is also what docs/compatibility.md tells about them.
"""

from __future__ import annotations

import pathlib
import sys
import types

from tidemark._tensorflow.raw import refusals
from tidemark.errors import UnimplementedError

_TABLE = pathlib.Path(__file__).with_name("refused_names.tsv")


def _read():
    found = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            reason, space, names = line.split("\t")
            found.update((f"{space}.{name}", reason) for name in names.split())
    return found


UNSUPPORTED = _read()  # name → the reason


# What packages name when they are imported, inside of unsupported classes.
_FEATURE = "tf.tpu.experimental.HardwareFeature.EmbeddingFeature"
_INSIDE_CLASSES = (_FEATURE, *(f"{_FEATURE}.{name}" for name in ("UNSUPPORTED", "V1", "V2")))


class _Raising(type):
    """The type of what stands for an unsupported name: using it says why it is not there."""

    def __call__(cls, *args, **kwargs):
        raise unimplemented(cls.__tf_names__[0])

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{cls.__tf_names__[0]}.{name}"
        if full in _INSIDE_CLASSES:
            return stand_in(full)
        raise unimplemented(full)


def reason_of(name):
    """Why a name is not supported; None if it is."""
    if name.startswith("tf.raw_ops."):
        last = name.removeprefix("tf.raw_ops.")
        return None if refusals.is_here(last) else refusals.reason(last)
    return UNSUPPORTED.get(name)


def unimplemented(name):
    """The error that using an unsupported name raises."""
    known = name
    while reason_of(known) is None and "." in known:
        known = known.rpartition(".")[0]
    reason = reason_of(known) or "Tidemark does not have it"
    return UnimplementedError(None, None, f"{name} is not supported: {reason}.")


def stand_in(name):
    """What an unsupported name resolves to."""
    space, _, last = name.rpartition(".")
    module = "tidemark" + space[2:]
    return _Raising(last, (), {"__tf_names__": (name,), "__module__": module})


def find(name):
    """What a name that is not here resolves to: a stand-in, or a module of them; None."""
    return stand_in(name) if name in UNSUPPORTED else module_of(name)


def names_under(space):
    """The unsupported names of a namespace: last part → stand-in."""
    found = {}
    for name in UNSUPPORTED:
        where, _, last = name.rpartition(".")
        if where == space:
            found[last] = stand_in(name)
    return found


def module_of(space):
    """A module of unsupported names alone, such as ``tf.lite``; None if there is none."""
    if not any(name.startswith(space + ".") for name in UNSUPPORTED):
        return None
    module = types.ModuleType("tidemark" + space[2:], f"``{space}``: nothing of it is supported.")
    module.__dict__.update(names_under(space))
    for name in UNSUPPORTED:
        rest = name[len(space) + 1 :] if name.startswith(space + ".") else ""
        if "." in rest:
            inner = rest.partition(".")[0]
            setattr(module, inner, module_of(f"{space}.{inner}"))
    sys.modules[module.__name__] = module
    return module
