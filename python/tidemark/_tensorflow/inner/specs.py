"""What ``tensorflow.python.framework`` says of types: ``type_spec``, ``type_spec_registry``."""

from __future__ import annotations

from tidemark._tensor import specs
from tidemark._tensor.specs import BoundedTensorSpec, TensorSpec, TypeSpec, lookup

DenseSpec = TensorSpec  # a spec with shape and dtype
get_name = specs.registered_name
_NAME_TO_TYPE_SPEC = specs._registered


class _Names:
    """The names by class: the reverse of ``_NAME_TO_TYPE_SPEC``."""

    def pop(self, cls, default=None):
        return next((name for name, known in specs._registered.items() if known is cls), default)

    def __contains__(self, cls):
        return cls in specs._registered.values()


_TYPE_SPEC_TO_NAME = _Names()


class BatchableTypeSpec(TypeSpec):
    """A spec whose values can be put together to a batch and taken apart again."""

    __slots__ = ()
    __batch_encoder__ = None


def register(name):
    """Gives a spec class the name it is stored under, once."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")

    def decorate(cls):
        if cls in _TYPE_SPEC_TO_NAME:
            raise ValueError(f"Class {cls.__module__}.{cls.__name__} has already been registered")
        if name in _NAME_TO_TYPE_SPEC:
            raise ValueError(f"Name {name} has already been registered")
        return specs.register(name)(cls)

    return decorate


def register_type_spec_from_value_converter(type_object, converter_fn, allow_subclass=False):
    """Values say what they are by their ``_type_spec``."""
    type_object._type_spec = property(converter_fn)


__all__ = ["BoundedTensorSpec", "lookup"]
