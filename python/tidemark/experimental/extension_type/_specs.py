"""``tf.experimental.ExtensionTypeSpec``: what is known of values of an extension type."""

from __future__ import annotations

import collections.abc

from tidemark import nest
from tidemark._tensor.specs import TypeSpec, spec_of
from tidemark.experimental.extension_type import _fields


class Fixed:
    """What has fields that only a constructor may set."""

    _tf_extension_type_noun = "ExtensionType"

    def _tf_extension_type_check_open(self, name):
        if not self.__dict__.get("_tf_extension_type_open"):
            raise AttributeError(
                f"Cannot mutate attribute `{name}` outside the custom constructor of "
                f"{self._tf_extension_type_noun}."
            )

    def __setattr__(self, name, value):
        self._tf_extension_type_check_open(name)
        self.__dict__[name] = value

    def __delattr__(self, name):
        self._tf_extension_type_check_open(name)
        del self.__dict__[name]


class ExtensionTypeSpec(Fixed, TypeSpec):
    """The fields of an extension type with specs where its values have tensors."""

    _tf_extension_type_noun = "ExtensionTypeSpec"

    @classmethod
    def from_value(cls, value):
        """The spec of a value."""
        return cls._made({f.name: _spec_of_part(getattr(value, f.name)) for f in cls._fields()})

    @classmethod
    def _made(cls, parts):
        """A spec of these fields, whatever arguments its constructor takes."""
        made = cls.__new__(cls)
        _fields.convert_fields(cls._fields(), parts, for_spec=True)
        made.__dict__.update(parts)
        made.__validate__()
        return made

    @classmethod
    def _fields(cls):
        return cls._tf_extension_type_of()._tf_extension_type_fields()

    def __validate__(self):
        """Classes that have more to say than the types of their fields do so here."""

    @property
    def value_type(self):
        return self._tf_extension_type_of()

    def _parts(self):
        return {field.name: self.__dict__[field.name] for field in self._fields()}

    def _serialize(self):
        return tuple((name, _as_plain(part)) for name, part in self._parts().items())

    @classmethod
    def _deserialize(cls, serialization):
        return cls._made(dict(serialization))

    @property
    def _component_specs(self):
        leaves = _leaves(self._parts())
        return tuple(s for p in leaves if isinstance(p, TypeSpec) for s in _flat_specs(p))

    def _to_components(self, value):
        own = {field.name: getattr(value, field.name) for field in self._fields()}
        pairs = zip(_leaves(self._parts()), _leaves(own), strict=True)
        return tuple(
            tensor
            for spec, part in pairs
            if isinstance(spec, TypeSpec)
            for tensor in nest.flatten(part, expand_composites=True)
        )

    def _from_components(self, components):
        left = iter(components)

        def made(part):
            if not isinstance(part, TypeSpec):
                return part
            taken = [next(left) for _ in _flat_specs(part)]
            return nest.pack_sequence_as(part, taken, expand_composites=True)

        return self.value_type._tf_extension_type_made(_mapped(made, self._parts()))

    @property
    def trace_key(self):
        """What of a spec its tensors do not tell."""
        return type(self), _token(_mapped(_kind_of_part, self._parts()))

    def __hash__(self):
        return hash((type(self), _token(self._parts())))

    def __eq__(self, other):
        return type(self) is type(other) and self._serialize() == other._serialize()

    def __repr__(self):
        inside = ", ".join(f"{name}={part!r}" for name, part in self._parts().items())
        return f"{type(self).__qualname__}({inside})"


def _spec_of_part(part):
    return _mapped(lambda leaf: leaf if spec_of(leaf) is None else spec_of(leaf), part)


def _mapped(function, part):
    """The function over what is inside of tuples and mappings."""
    if isinstance(part, tuple):
        return tuple(_mapped(function, p) for p in part)
    if isinstance(part, collections.abc.Mapping):
        keys = part if isinstance(part, dict) else sorted(part)  # fields are in their own order
        return type(part)((key, _mapped(function, part[key])) for key in keys)
    return function(part)


def _leaves(part):
    if isinstance(part, tuple):
        return [leaf for p in part for leaf in _leaves(p)]
    if isinstance(part, collections.abc.Mapping):
        keys = part if isinstance(part, dict) else sorted(part)  # fields are in their own order
        return [leaf for key in keys for leaf in _leaves(part[key])]
    return [part]


def _flat_specs(spec):
    return nest.flatten(spec, expand_composites=True)


def _kind_of_part(part):
    return getattr(part, "trace_key", type(part)) if isinstance(part, TypeSpec) else part


def _as_plain(part):
    """Dictionaries in place of those that do not change."""
    if isinstance(part, tuple):
        return tuple(map(_as_plain, part))
    if isinstance(part, collections.abc.Mapping):
        return {key: _as_plain(value) for key, value in part.items()}
    return part


def _token(part):
    """The same as something hashable."""
    if isinstance(part, (tuple, list)):
        return tuple(map(_token, part))
    if isinstance(part, collections.abc.Mapping):
        return tuple((key, _token(part[key])) for key in sorted(part))
    return part
