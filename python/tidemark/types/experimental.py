"""``tf.types.experimental``: protocols of tensors and functions, for annotations and isinstance."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from tidemark._tidemark import Tensor

TensorLike = Tensor | int | float | complex | bool | str | bytes | list | tuple


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """A value that says by what its traces differ."""

    def __tf_tracing_type__(self, context): ...


class Callable:
    """Something that ``tf.function`` makes."""


class _Kind(type):
    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (
            cls is GenericFunction and hasattr(type(instance), "_list_all_concrete_functions")
        )


class GenericFunction(Callable, metaclass=_Kind):
    """A function that is traced once for each kind of arguments."""


class ConcreteFunction(Callable):
    """One trace of a function."""


class AtomicFunction(Callable):
    """A function over flat arguments."""


PolymorphicFunction = GenericFunction


class TraceType:
    """What a trace is made for."""


class FunctionType:
    """The parameters, captures and result of a function."""


class TracingContext:
    """What is given to ``__tf_tracing_type__``."""


class PlacementContext:
    """What is given when placeholders are made."""


class CastContext:
    """What is given when values are cast."""


def __getattr__(name):
    if name != "distributed":
        raise AttributeError(f"module 'tidemark.types.experimental' has no attribute {name!r}")
    from types import SimpleNamespace  # loaded on first use

    from tidemark.distribute import _values  # only strategies need it

    return SimpleNamespace(
        DistributedValues=_values.DistributedValues,
        Mirrored=_values.MirroredVariable,
        PerReplica=_values.PerReplica,
    )
