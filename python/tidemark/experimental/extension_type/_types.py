"""``tf.experimental.ExtensionType``: classes whose annotations say what they are made of."""

from __future__ import annotations

import functools
import inspect
import sys
import typing

import tidemark as tf
from tidemark.__internal__ import dispatch
from tidemark._tensor import specs
from tidemark._tensor.specs import CompositeTensor, TypeSpec
from tidemark.experimental.extension_type import _fields
from tidemark.experimental.extension_type._fields import ExtensionTypeField
from tidemark.experimental.extension_type._specs import ExtensionTypeSpec, Fixed


def fields_of(cls):
    """The fields of a class, forward references resolved where all of them can be."""
    found = cls.__dict__.get("_tf_extension_type_resolved")
    if found is None:
        found = tuple(_resolved(cls, field) for field in cls._tf_extension_type_own_fields)
        type.__setattr__(cls, "_tf_extension_type_resolved", found)
    return found


def _resolved(cls, field):
    if not _names_something_open(field.value_type):
        return field
    known = {**vars(sys.modules.get(cls.__module__, typing)), cls.__name__: cls}
    holder = type(cls.__name__, (), {"__annotations__": {field.name: field.value_type}})
    try:
        kind = typing.get_type_hints(holder, known)[field.name]
    except NameError as error:
        raise TypeError(f"In field {field.name!r}: unresolved forward reference: {error}") from None
    _fields.check_type(kind)
    return field._replace(value_type=kind)


def _names_something_open(kind):
    inside = typing.get_args(kind)
    return isinstance(kind, (str, typing.ForwardRef)) or any(map(_names_something_open, inside))


class ExtensionTypeMetaclass(type):
    """Reads the annotations of a class, and gives it a constructor and a spec."""

    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)
        if namespace.get("_tf_extension_type_do_not_transform_this_class"):
            return
        _check_names(cls, namespace)
        type.__setattr__(cls, "_tf_extension_type_own_fields", _read_fields(cls))
        _give_constructor(cls)
        _give_spec(cls, namespace)


def _annotations(cls):
    return inspect.get_annotations(cls)


def _check_names(cls, namespace):
    for name in (*_annotations(cls), *namespace):
        if name == "Spec" or (name.startswith("__") and name.endswith("__")):
            continue
        if ExtensionTypeField.is_reserved_name(name):
            raise ValueError(
                f"The field annotations for {cls.__name__} are invalid. Field {name!r} is reserved."
            )


def _read_fields(cls):
    """Those of the base classes, then the class's own; a name that is there keeps its place."""
    found = {}
    for base in reversed(cls.__mro__):
        for name, kind in _annotations(base).items():
            if isinstance(base, ExtensionTypeMetaclass):
                default = base.__dict__.get(name, ExtensionTypeField.NO_DEFAULT)
                found[name] = _fields.made_field(name, _fields.without_metadata(kind), default)
    return tuple(found.values())


def _signature(cls, fields, returned, with_types):
    """Fields after one with a default that have none, and all after these, go by name alone."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters, has_default = [inspect.Parameter("self", kind)], False
    for field in fields:
        is_open = field.default is ExtensionTypeField.NO_DEFAULT
        if has_default and is_open:
            kind = inspect.Parameter.KEYWORD_ONLY
        has_default = has_default or not is_open
        said = {"annotation": field.value_type} if with_types else {}
        if with_types and not is_open:
            said["default"] = field.default
        parameters.append(inspect.Parameter(field.name, kind, **said))
    return inspect.Signature(parameters, return_annotation=returned)


def _constructor(signature, finish):
    def __init__(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        del bound.arguments["self"]
        self.__dict__.update(bound.arguments)
        finish(self)

    __init__.__signature__ = signature
    return __init__


def _written_constructor(written, finish):
    """The class's own constructor, which may set fields while it runs."""

    @functools.wraps(written)
    def __init__(self, *args, **kwargs):
        self.__dict__["_tf_extension_type_open"] = True
        try:
            written(self, *args, **kwargs)
        finally:
            self.__dict__.pop("_tf_extension_type_open", None)
        finish(self)

    return __init__


def _finish_value(self):
    if "_tf_extension_type_open" in self.__dict__:
        return  # a base class's constructor, called by that of a subclass
    _fields.convert_fields(fields_of(type(self)), self.__dict__)
    self.__validate__()


def _finish_spec(self):
    _fields.convert_fields(self._fields(), self.__dict__, for_spec=True)
    self.__validate__()


def _give_constructor(cls):
    written = cls.__dict__.get("__init__")
    if written is None:
        signature = _signature(cls, cls._tf_extension_type_own_fields, cls, True)
        cls.__init__ = _constructor(signature, _finish_value)
        cls.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
    else:
        cls.__init__ = _written_constructor(written, _finish_value)


def _give_spec(cls, namespace):
    written = namespace.get("Spec")
    if written is not None and not isinstance(written, type):
        raise ValueError(f"{cls.__name__}.Spec must be a nested class; got {written}.")
    if written is not None and written.__bases__ not in ((object,), (TypeSpec,)):
        raise ValueError(f"{cls.__name__}.Spec must be directly subclassed from tf.TypeSpec.")
    inside = {} if written is None else dict(vars(written))
    for name in ("__dict__", "__weakref__"):
        inside.pop(name, None)
    own = inside.pop("__init__", None)
    inside.update(
        __module__=cls.__module__,
        __qualname__=f"{cls.__qualname__}.Spec",
        _tf_extension_type_of=classmethod(lambda _: cls),
    )
    encoder = getattr(cls, "__batch_encoder__", None)
    base = ExtensionTypeSpec if encoder is None else _batchable_spec()
    spec = type("Spec", (base,), inside)
    if own is None:
        signature = _signature(cls, cls._tf_extension_type_own_fields, spec, False)
        spec.__init__ = _constructor(signature, _finish_spec)
    else:
        spec.__init__ = _written_constructor(own, _finish_spec)
    type.__setattr__(cls, "Spec", spec)
    if "__name__" in namespace:
        specs.register(f"{namespace['__name__']}.Spec")(spec)


def _batchable_spec():
    from tidemark.experimental.extension_type import _batches  # which is built on this module

    return _batches.BatchableExtensionTypeSpec


class ExtensionType(Fixed, CompositeTensor, metaclass=ExtensionTypeMetaclass):
    """A base class: the annotations of a subclass are its fields."""

    _tf_extension_type_do_not_transform_this_class = True

    def __init__(self, *args, **kwargs):
        if type(self) is ExtensionType:
            raise AssertionError(
                "Cannot create an instance of ExtensionType because ExtensionType is an abstract "
                "base class."
            )

    @classmethod
    def _tf_extension_type_fields(cls):
        return fields_of(cls)

    @classmethod
    def _tf_extension_type_has_field(cls, name):
        return any(field.name == name for field in fields_of(cls))

    @classmethod
    def _tf_extension_type_made(cls, parts):
        """A value of these fields, whatever arguments its constructor takes."""
        made = cls.__new__(cls)
        made.__dict__.update(parts)
        _finish_value(made)
        return made

    def __validate__(self):
        """Classes that have more to say than the types of their fields do so here."""

    @property
    def _type_spec(self):
        return self.Spec.from_value(self)

    @classmethod
    def __tf_dispatch__(cls, function, args, kwargs):
        return dispatch.ask(function, args, kwargs)

    def __eq__(self, other):
        if type(self) is not type(other):
            return False
        mine, theirs = self._type_spec, other._type_spec
        if not mine.is_compatible_with(theirs):
            return False
        pairs = zip(mine._to_components(self), theirs._to_components(other), strict=True)
        return tf.reduce_all(tf.stack([True, *(_all_equal(a, b) for a, b in pairs)]))

    def __ne__(self, other):
        same = self.__eq__(other)
        return not same if isinstance(same, bool) else tf.logical_not(same)

    __hash__ = None

    def __repr__(self):
        pairs = ((field.name, getattr(self, field.name)) for field in fields_of(type(self)))
        inside = ", ".join(f"{name}={value!r}" for name, value in pairs)
        return f"{type(self).__qualname__}({inside})"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def _all_equal(a, b):
    """Whether two tensors are of one shape and equal, as a tensor."""
    if a.dtype != b.dtype or not a.shape.is_compatible_with(b.shape):
        return tf.constant(False)
    if a.shape.is_fully_defined() and b.shape.is_fully_defined():
        return tf.reduce_all(tf.equal(a, b))
    same_rank = tf.equal(tf.rank(a), tf.rank(b))
    same_shape = tf.cond(
        same_rank, lambda: tf.reduce_all(tf.equal(tf.shape(a), tf.shape(b))), lambda: False
    )
    return tf.cond(same_shape, lambda: tf.reduce_all(tf.equal(a, b)), lambda: False)
