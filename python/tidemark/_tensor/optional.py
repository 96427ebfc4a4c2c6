"""``tf.experimental.Optional``: a value, or none."""

from __future__ import annotations

from tidemark import dtypes, nest
from tidemark._export import export
from tidemark._tensor.creation import convert_to_tensor, get_static_value, zeros
from tidemark._tensor.specs import CompositeTensor, TensorSpec, TypeSpec, type_spec_from_value
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
        if not self._is_known_to_hold():
            raise InvalidArgumentError(None, None, "The given optional does not have a value.")
        return self._structure

    def _is_known_to_hold(self):
        """False only if it is known that there is no value; in a graph that may not be known."""
        if isinstance(self._has_value, bool):
            return self._has_value
        known = get_static_value(self._has_value)
        return known is None or bool(known)

    @property
    def _type_spec(self):
        return OptionalSpec(self._element_spec)

    def __repr__(self):
        return f"<tf.experimental.Optional of {self._element_spec}>"


def _as_tensor(value):
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
    def is_incomplete(self):
        """Of an empty optional whose type is not known yet; a loop finds out what it becomes."""
        return self._element_spec is None

    @property
    def _component_specs(self):
        held = () if self.is_incomplete else self._element_spec
        return (TensorSpec([], dtypes.bool), held)

    def _to_components(self, value):
        held = value._structure
        if self.is_incomplete:
            held = ()
        elif held is None:  # something of the right type, which nobody looks at
            held = nest.map_structure(_nothing_of, self._element_spec)
        return (value.has_value(), held)

    def _from_components(self, components):
        held = None if self.is_incomplete else components[1]
        return Optional(held, self._element_spec, components[0])


def _nothing_of(spec):
    if isinstance(spec, TensorSpec):
        return zeros([size or 0 for size in spec.shape.as_list()], spec.dtype)
    parts = nest.map_structure(_nothing_of, spec._component_specs)
    return spec._from_components(parts)
