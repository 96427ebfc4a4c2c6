"""The fields of an extension type: what may stand there, and values made so."""

from __future__ import annotations

import collections.abc
import types
import typing

from tidemark import dtypes
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.specs import CompositeTensor, TensorSpec, TypeSpec
from tidemark._tidemark import Tensor
from tidemark.dtypes import DType
from tidemark.tensor_shape import TensorShape, as_shape

_PLAIN = (int, float, str, bytes, bool, type(None))
_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))


class ImmutableDict(collections.abc.Mapping):
    """A mapping that does not change."""

    def __init__(self, *args, **kwargs):
        self._dict = dict(*args, **kwargs)

    def __getitem__(self, key):
        return self._dict[key]

    def __contains__(self, key):
        return key in self._dict

    def __iter__(self):
        return iter(self._dict)

    def __len__(self):
        return len(self._dict)

    def __eq__(self, other):
        if isinstance(other, ImmutableDict):
            return self._dict == other._dict
        return self._dict == other if isinstance(other, dict) else NotImplemented

    def __hash__(self):
        return hash(frozenset(self._dict.items()))

    def __repr__(self):
        return f"ImmutableDict({self._dict})"


class _NoDefault:
    def __repr__(self):
        return "ExtensionTypeField.NO_DEFAULT"


class ExtensionTypeField(typing.NamedTuple):
    """One field: its name, what may stand in it, and what stands there if nothing is given."""

    name: str
    value_type: object
    default: object = _NoDefault()

    @staticmethod
    def is_reserved_name(name):
        """Whether the name is one that extension types use themselves."""
        return name in RESERVED or name.startswith("_tf_extension_type")


ExtensionTypeField.NO_DEFAULT = ExtensionTypeField._field_defaults["default"]
RESERVED = {
    "self", "Spec", "_type_spec", "value_type",
    *(name for name in (*vars(TypeSpec), *vars(CompositeTensor)) if not name.startswith("__")),
    "_component_specs", "_to_components", "_from_components", "_batch", "_unbatch",
    "_to_tensor_list", "_from_tensor_list", "_flat_tensor_specs",
}  # fmt: skip


def made_field(name, value_type, default=ExtensionTypeField.NO_DEFAULT):
    """A field, its annotation checked and its default converted unless it holds tensors."""
    try:
        check_type(value_type, allow_forward_references=True)
    except TypeError as error:
        raise TypeError(f"In field {name!r}: {error}") from None
    if default is not ExtensionTypeField.NO_DEFAULT and _is_free_of_tensors(value_type):
        default = converted(default, value_type, (f"default value for {name}",))
    return ExtensionTypeField(name, value_type, default)


def _is_free_of_tensors(kind):
    """Whether no tensor may stand there: defaults that are tensors are made with each value."""
    if _is_open(kind):
        return False
    parts = typing.get_args(kind)
    if parts:
        return all(part is ... or _is_free_of_tensors(part) for part in parts)
    return not (isinstance(kind, type) and issubclass(kind, (Tensor, CompositeTensor)))


def _is_open(kind):
    return isinstance(kind, (str, typing.ForwardRef))


def without_metadata(kind):
    """An annotation without what ``Annotated`` says beside its types."""
    if typing.get_origin(kind) is typing.Annotated:
        return without_metadata(typing.get_args(kind)[0])
    parts = typing.get_args(kind)
    if typing.get_origin(kind) in _UNIONS and parts:
        return typing.Union[tuple(map(without_metadata, parts))]  # noqa: UP007 - of a tuple
    return kind


def named(kind):
    """An annotation as errors write it."""
    if kind is TensorShape:
        return "'tf.TensorShape'"
    if kind is DType:
        return "'tf.DType'"
    if kind is Tensor:
        return "'tf.Tensor'"
    if typing.get_origin(kind) in _UNIONS:
        return f"typing.Union[{', '.join(p.__name__ for p in typing.get_args(kind))}]"
    return repr(kind.__name__) if isinstance(kind, type) else repr(kind)


def check_type(kind, allow_forward_references=False):
    """Raises TypeError unless fields may be annotated so."""
    if _is_open(kind):
        if not allow_forward_references:
            raise TypeError(f"Unresolved forward reference {kind!r}")
        return
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is collections.abc.Mapping:
        key = parts[0]
        if not (_is_open(key) or key in _PLAIN):
            described = getattr(key, "__name__", key)
            raise TypeError(f"Mapping had a key {described!r} with type {_kind_of_key(key)!r}")
        for part in parts:
            check_type(part, allow_forward_references)
    elif origin in _UNIONS or origin is tuple:
        for part in parts:
            if part is not ...:
                check_type(part, allow_forward_references)
    elif not (kind is None or kind in (*_PLAIN, DType, TensorShape) or _is_of_tensors(kind)):
        raise TypeError(f"Unsupported type annotation {named(kind)}")


def _kind_of_key(key):
    return "ABCMeta" if key is TensorShape else "type" if key is Tensor else type(key).__name__


def _is_of_tensors(kind):
    return isinstance(kind, type) and issubclass(kind, (Tensor, CompositeTensor, TypeSpec))


def converted(value, kind, path, for_spec=False):
    """The value as one that the annotation allows; for a spec, the spec of such a value."""
    if _is_open(kind):
        raise TypeError(f"Unresolved forward reference {kind!r}")
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in _UNIONS:
        return _of_union(value, kind, parts, path, for_spec)
    if origin is tuple:
        return _of_tuple(value, kind, parts, path, for_spec)
    if origin is collections.abc.Mapping:
        return _of_mapping(value, parts, path, for_spec)
    if kind is Tensor:
        return _of_tensor(value, path, for_spec)
    if kind in (DType, TensorShape):
        return _of_description(value, kind, path)
    kind = type(None) if kind is None else kind
    described = for_spec and isinstance(value, TypeSpec) and issubclass(kind, CompositeTensor)
    if not (issubclass(value.value_type, kind) if described else isinstance(value, kind)):
        raise TypeError(_expected(path, kind, value))
    return value


def _expected(path, kind, value):
    return f"{''.join(path)}: expected {named(kind)}, got {type(value).__name__!r}"


def _of_union(value, kind, parts, path, for_spec):
    for part in parts:
        try:
            return converted(value, part, path, for_spec)
        except TypeError:
            continue
    raise TypeError(_expected(path, kind, value))


def _of_tuple(value, kind, parts, path, for_spec):
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{''.join(path)}: expected tuple, got {type(value).__name__!r}")
    if len(parts) == 2 and parts[1] is ...:
        parts = (parts[0],) * len(value)
    if parts == ((),):
        parts = ()
    if len(parts) != len(value):
        raise TypeError(f"{''.join(path)}: expected tuple with length {len(parts)}, got {value!r}")
    pairs = enumerate(zip(value, parts, strict=True))
    return tuple(converted(v, part, (*path, f"[{i}]"), for_spec) for i, (v, part) in pairs)


def _of_mapping(value, parts, path, for_spec):
    if not isinstance(value, collections.abc.Mapping):
        raise TypeError(f"{''.join(path)}: expected mapping, got {type(value).__name__!r}")
    key, item = parts
    return ImmutableDict(
        (converted(k, key, (*path, "[<key>]"), for_spec),
         converted(v, item, (*path, f"[{k!r}]"), for_spec))
        for k, v in value.items()
    )  # fmt: skip


def _of_tensor(value, path, for_spec):
    if for_spec:
        if not isinstance(value, TensorSpec):
            raise TypeError(f"{''.join(path)}: expected a TensorSpec, got {value!r}")
        return value
    if isinstance(value, Tensor):
        return value
    try:
        return convert_to_tensor(value)
    except (ValueError, TypeError) as error:
        raise TypeError(_expected(path, Tensor, value)) from error


def _of_description(value, kind, path):
    if isinstance(value, kind):
        return value
    try:
        if kind is DType and not isinstance(value, str):
            return dtypes.as_dtype(value)
        if kind is TensorShape and not isinstance(value, str):
            return as_shape(value)
    except (TypeError, ValueError):
        pass
    raise TypeError(_expected(path, kind, value))


def convert_fields(fields, values, for_spec=False):
    """Converts a dictionary of values by name, in place; all fields have to be there."""
    missing = {field.name for field in fields if field.name not in values}
    if missing:
        raise ValueError(f"Missing required fields: {missing}")
    unknown = {name for name in values if all(name != field.name for field in fields)}
    if unknown:
        raise ValueError(f"Got unexpected fields: {unknown}")
    for field in fields:
        values[field.name] = converted(
            values[field.name], field.value_type, (field.name,), for_spec
        )
