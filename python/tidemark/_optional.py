"""``tf.experimental.Optional``: a value, or none."""

from __future__ import annotations

from tidemark import nest
from tidemark._export import export
from tidemark._type_specs import CompositeTensor, TypeSpec, type_spec_from_value
from tidemark.errors import InvalidArgumentError


@export("tf.experimental.Optional")
class Optional(CompositeTensor):
    """A structure of tensors that is there or not."""

    def __init__(self, structure, element_spec, has_value):
        self._structure = structure
        self._element_spec = element_spec
        self._has_value = has_value

    @staticmethod
    def from_value(value):
        """An optional that holds the value."""
        value = nest.map_structure(_as_tensor, value)
        return Optional(value, nest.map_structure(type_spec_from_value, value), True)

    @staticmethod
    def empty(element_spec):
        """An optional of the given type that holds none."""
        return Optional(None, element_spec, False)

    element_spec = property(lambda self: self._element_spec)
    value_structure = element_spec

    def has_value(self, name=None):
        """Whether there is a value, as a tensor."""
        return _as_tensor(self._has_value)

    def get_value(self, name=None):
        """The value; an error if there is none."""
        if not self._has_value:
            raise InvalidArgumentError(None, None, "The given optional does not have a value.")
        return self._structure

    @property
    def _type_spec(self):
        return OptionalSpec(self._element_spec)

    def __repr__(self):
        return f"<tf.experimental.Optional of {self._element_spec}>"


def _as_tensor(value):
    from tidemark._creation import convert_to_tensor

    return value if hasattr(value, "_type_spec") else convert_to_tensor(value)


@export("tf.OptionalSpec")
class OptionalSpec(TypeSpec):
    """The type of an optional: that of what it may hold."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec):
        self._element_spec = element_spec

    value_type = property(lambda self: Optional)

    @classmethod
    def from_value(cls, value):
        """The spec of an optional."""
        return cls(value.element_spec)

    def _serialize(self):
        return (self._element_spec,)

    @property
    def _component_specs(self):
        return self

    def _to_components(self, value):
        return value

    def _from_components(self, components):
        return components
