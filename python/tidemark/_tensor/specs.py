"""``tf.TensorSpec`` and its kin: what is known of a value before it is there.

    spec = tf.TensorSpec([None, 3], tf.float32)
    spec.is_compatible_with(tf.zeros([5, 3]))       # True

A composite value (sparse, ragged, …) is made of tensors; its spec takes it apart and puts it
together again.
"""

from __future__ import annotations

from tidemark import _tidemark, dtypes, nest
from tidemark._export import export
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tensor.variable import Variable
from tidemark._tidemark import Tensor
from tidemark.dtypes import as_dtype
from tidemark.tensor_shape import TensorShape, as_shape


class CompositeTensor:
    """A value made of several tensors, described by its ``_type_spec``."""

    __slots__ = ()

    @property
    def _type_spec(self):
        raise NotImplementedError(f"{type(self).__name__} must define _type_spec")

    def _to_components(self):
        return self._type_spec._to_components(self)


@export("tf.TypeSpec")
class TypeSpec:
    """The type of a value. Subclasses say what they are made of in ``_serialize``."""

    __slots__ = ()

    @property
    def value_type(self):
        """The Python type of the values this describes."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    def _serialize(self):
        raise NotImplementedError(f"{type(self).__name__}._serialize")

    @classmethod
    def _deserialize(cls, serialization):
        return cls(*serialization)

    def is_compatible_with(self, spec_or_value):
        """Whether the value, or a value of the given spec, is one that this describes."""
        if not isinstance(spec_or_value, TypeSpec):
            try:
                spec_or_value = type_spec_from_value(spec_or_value)
            except TypeError:
                return False
        if type(self) is not type(spec_or_value):
            return False
        return _fits(self._serialize(), spec_or_value._serialize())

    def is_subtype_of(self, other):
        """Whether each value of this spec is one of the other."""
        return type(self) is type(other) and _within(self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others):
        """The narrowest spec that this and all others are subtypes of, or None."""
        common = self._serialize()
        for other in others:
            if type(other) is not type(self):
                return None
            common = _common(common, other._serialize())
            if common is _NONE:
                return None
        return self._deserialize(common)

    def most_specific_compatible_type(self, other):
        """As most_specific_common_supertype of both; an error if there is none."""
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return found

    def _with_tensor_ranks_only(self):
        """The spec of which only the ranks of shapes are known."""

        def of_rank(part):
            if isinstance(part, TensorShape):
                return TensorShape(None if part.rank is None else [None] * part.rank)
            if isinstance(part, TypeSpec):
                return part._with_tensor_ranks_only()
            if isinstance(part, (list, tuple)) and not hasattr(part, "_fields"):
                return type(part)(of_rank(item) for item in part)
            if isinstance(part, dict):
                return type(part)((key, of_rank(item)) for key, item in part.items())
            return part

        return self._deserialize(of_rank(self._serialize()))

    @property
    def _flat_tensor_specs(self):
        return nest.flatten(self._component_specs)

    def __eq__(self, other):
        same = type(self) is type(other)
        return same and _comparable(self._serialize()) == _comparable(other._serialize())

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((type(self), _comparable(self._serialize())))

    def __reduce__(self):
        return _restored, (type(self), self._serialize())

    def __repr__(self):
        return f"{type(self).__name__}{self._serialize()!r}"


def _restored(kind, parts):
    return kind._deserialize(parts)


# --- comparing what specs are made of ------------------------------------------------------------

_NONE = object()


def _comparable(part):
    if isinstance(part, TensorShape):
        return None if part.rank is None else ("shape", *part.as_list())
    if isinstance(part, (list, tuple)):
        return tuple(_comparable(p) for p in part)
    return part


def _fits(mine, theirs):
    """Whether some value could be of both."""
    if isinstance(mine, TensorShape):
        return mine.is_compatible_with(theirs)
    if isinstance(mine, TypeSpec):
        return mine.is_compatible_with(theirs)
    if isinstance(mine, (list, tuple)):
        same = isinstance(theirs, (list, tuple)) and len(mine) == len(theirs)
        return same and all(_fits(a, b) for a, b in zip(mine, theirs, strict=True))
    return mine == theirs


def _within(mine, theirs):
    """Whether each value of mine is one of theirs."""
    if isinstance(mine, TensorShape):
        return _shape_within(mine, theirs)
    if isinstance(mine, TypeSpec):
        return mine.is_subtype_of(theirs)
    if isinstance(mine, (list, tuple)):
        same = isinstance(theirs, (list, tuple)) and len(mine) == len(theirs)
        return same and all(_within(a, b) for a, b in zip(mine, theirs, strict=True))
    return mine == theirs


def _shape_within(mine, theirs):
    if theirs.rank is None:
        return True
    if mine.rank != theirs.rank:
        return False
    return all(b is None or a == b for a, b in zip(mine.as_list(), theirs.as_list(), strict=True))


def _common(mine, theirs):
    if isinstance(mine, TensorShape):
        return _common_shape(mine, theirs)
    if isinstance(mine, TypeSpec):
        found = mine.most_specific_common_supertype([theirs])
        return _NONE if found is None else found
    if isinstance(mine, (list, tuple)) and not isinstance(mine, str):
        if not isinstance(theirs, (list, tuple)) or len(mine) != len(theirs):
            return _NONE
        parts = [_common(a, b) for a, b in zip(mine, theirs, strict=True)]
        return _NONE if any(p is _NONE for p in parts) else tuple(parts)
    return mine if mine == theirs else _NONE


def _common_shape(mine, theirs):
    if mine.rank is None or mine.rank != theirs.rank:
        return TensorShape(None)
    sizes = zip(mine.as_list(), theirs.as_list(), strict=True)
    return TensorShape([a if a == b else None for a, b in sizes])


# --- dense tensors -------------------------------------------------------------------------------


@export("tf.TensorSpec")
class TensorSpec(TypeSpec):
    """Shape, dtype and perhaps the name of a tensor."""

    __slots__ = ("_shape", "_dtype", "_name")

    def __init__(self, shape, dtype=dtypes.float32, name=None):
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)
    value_type = property(lambda self: Tensor)
    _component_specs = property(lambda self: self)

    @classmethod
    def from_spec(cls, spec, name=None):
        """The same spec under another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """The spec of a tensor."""
        if isinstance(tensor, (Tensor, _tidemark.VariableBase)):
            return cls(tensor.shape, tensor.dtype, name)
        raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")

    def is_compatible_with(self, spec_or_tensor):
        """Whether dtypes are equal and shapes compatible."""
        if not isinstance(spec_or_tensor, (TypeSpec, Tensor, _tidemark.VariableBase)):
            try:
                spec_or_tensor = _tidemark.convert(spec_or_tensor)
            except (TypeError, ValueError):
                return False
        dtype = getattr(spec_or_tensor, "dtype", None)
        return dtype == self._dtype and self._shape.is_compatible_with(spec_or_tensor.shape)

    def is_subtype_of(self, other):
        return (
            type(self) is type(other)
            and self._dtype == other._dtype
            and _shape_within(self._shape, other._shape)
            and other._name in (None, self._name)
        )

    def most_specific_common_supertype(self, others):
        shape, name = self._shape, self._name
        for other in others:
            if type(other) is not type(self) or other._dtype != self._dtype:
                return None
            shape = _common_shape(shape, other._shape)
            name = name if name == other._name else None
        return type(self)(shape, self._dtype, name)

    def _serialize(self):
        return (self._shape, self._dtype, self._name)

    def _batch(self, batch_size):
        return type(self)(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return type(self)(self._shape[1:], self._dtype)

    def _to_components(self, value):
        return value

    def _from_components(self, components):
        return components

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


@export("tf.experimental.BoundedTensorSpec")
class BoundedTensorSpec(TensorSpec):
    """A TensorSpec with the smallest and the largest value elements may have."""

    __slots__ = ("_minimum", "_maximum")

    def __init__(self, shape, dtype, minimum, maximum, name=None):
        import numpy as np  # importing the package does not load it

        super().__init__(shape, dtype, name)
        self._minimum = np.array(minimum, dtype=self._dtype.as_numpy_dtype)
        self._maximum = np.array(maximum, dtype=self._dtype.as_numpy_dtype)

    minimum = property(lambda self: self._minimum)
    maximum = property(lambda self: self._maximum)

    @classmethod
    def from_spec(cls, spec):
        """The same spec; without bounds, those of its type."""
        dtype = as_dtype(spec.dtype)
        low, high = getattr(spec, "minimum", dtype.min), getattr(spec, "maximum", dtype.max)
        return cls(spec.shape, dtype, low, high, spec.name)

    def _serialize(self):
        bounds = (tuple(self._minimum.ravel().tolist()), tuple(self._maximum.ravel().tolist()))
        return (self._shape, self._dtype, *bounds, self._name)

    def __repr__(self):
        return (
            f"BoundedTensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r}, "
            f"minimum={self._minimum!r}, maximum={self._maximum!r})"
        )


@export("tf.VariableSpec")
class VariableSpec(TensorSpec):
    """Shape and dtype of a variable."""

    __slots__ = ("_trainable", "_alias_id")

    def __init__(self, shape, dtype=dtypes.float32, trainable=True, alias_id=None):
        super().__init__(shape, dtype)
        self._trainable = trainable
        self._alias_id = alias_id

    trainable = property(lambda self: self._trainable)
    alias_id = property(lambda self: self._alias_id)

    @property
    def value_type(self):
        return Variable

    @classmethod
    def from_value(cls, value):
        """The spec of a variable."""
        return cls(value.shape, value.dtype, value.trainable)

    def most_specific_common_supertype(self, others):
        if any(type(o) is not type(self) or o._serialize() != self._serialize() for o in others):
            return None
        return self

    def _serialize(self):
        return (self._shape, self._dtype, self._trainable, self._alias_id)

    def __repr__(self):
        return (
            f"VariableSpec(shape={self._shape}, dtype={self._dtype!r}, "
            f"trainable={self._trainable!r}, alias_id={self._alias_id!r})"
        )


@export("tf.IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """Shape and dtypes of IndexedSlices."""

    __slots__ = ("_shape", "_dtype", "_indices_dtype", "_dense_shape_dtype", "_indices_shape")

    def __init__(self, shape=None, dtype=dtypes.float32, indices_dtype=dtypes.int64,
                 dense_shape_dtype=None, indices_shape=None):  # fmt: skip
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = as_shape(indices_shape).with_rank(1)

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)

    @property
    def value_type(self):
        return IndexedSlices

    def _serialize(self):
        return (
            self._shape,
            self._dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self):
        rows = self._indices_shape
        inner = self._shape[1:] if self._shape.rank is not None else TensorShape(None)
        parts = [
            TensorSpec(rows.concatenate(inner), self._dtype),
            TensorSpec(rows, self._indices_dtype),
        ]
        if self._dense_shape_dtype is not None:
            parts.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return tuple(parts)

    def _to_components(self, value):
        if value.dense_shape is None:
            return (value.values, value.indices)
        return (value.values, value.indices, value.dense_shape)

    def _from_components(self, components):
        return self.value_type(*components)


# --- values and their specs ----------------------------------------------------------------------


@export("tf.type_spec_from_value")
def type_spec_from_value(value):
    """The spec of a value; what is no tensor but can become one is taken as it would be."""
    spec = spec_of(value)
    if spec is not None:
        return spec
    try:
        return TensorSpec.from_tensor(_tidemark.convert(value))
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"Could not build a TypeSpec for {value} with type {kind}") from None


def spec_of(value):
    """The spec of a tensor, a variable or a composite; None for anything else."""
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, _tidemark.VariableBase):
        return VariableSpec.from_value(value)
    spec = getattr(value, "_type_spec", None)
    return spec if isinstance(spec, TypeSpec) else None


_registered = {}  # "module.Name" → the class


def register(name):
    """Gives a spec class the name under which Keras's older files store it."""

    def decorate(cls):
        _registered[name] = cls
        return cls

    return decorate


def lookup(name):
    """The spec class of a stored name."""
    if name not in _registered:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return _registered[name]


def registered_name(cls):
    """The name a spec class is stored under."""
    for name, known in _registered.items():
        if known is cls:
            return name
    raise ValueError(f"TypeSpec {cls.__module__}.{cls.__name__} has not been registered.")


register("tf.TensorSpec")(TensorSpec)
register("tf.VariableSpec")(VariableSpec)
register("tf.IndexedSlicesSpec")(IndexedSlicesSpec)
