"""The methods of ``tf.Tensor`` that are written in Python: indexing, printing, shape, identity."""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark
from tidemark._graph import symbolic
from tidemark._tensor.indexing import getitem
from tidemark.tensor_shape import as_shape


def _numpy_text(tensor, is_repr):
    value = tensor.numpy()
    if isinstance(value, np.ndarray):
        text = repr(value) if is_repr else str(value)
    elif isinstance(value, np.generic):
        text = repr(value.item()) if is_repr else str(value)
    else:
        text = repr(value) if is_repr else str(value)  # bytes
    return "\n" + text if "\n" in text else text


def _repr(self):
    if self._is_symbolic:
        return (
            f"<tf.Tensor {symbolic.name_of(self)!r} shape={symbolic.shape_text(self)} "
            f"dtype={self.dtype.name}>"
        )
    return (
        f"<tf.Tensor: shape={self._shape_tuple()}, dtype={self.dtype.name}, "
        f"numpy={_numpy_text(self, is_repr=True)}>"
    )


def _str(self):
    if self._is_symbolic:
        return (
            f'Tensor("{symbolic.name_of(self)}", shape={symbolic.shape_text(self)}, '
            f"dtype={self.dtype.name})"
        )
    return (
        f"tf.Tensor({_numpy_text(self, is_repr=False)}, shape={self._shape_tuple()}, "
        f"dtype={self.dtype.name})"
    )


def _format(self, format_spec):
    return format(str(self) if self._is_symbolic else self.numpy(), format_spec)


def _round(self, ndigits=None):
    if ndigits is None:
        return _tidemark.call("round", (self,), {})
    scale = 10.0**ndigits
    return _tidemark.call("round", (self * scale,), {}) / scale


def _get_shape(self):
    """The shape, as a TensorShape."""
    return self.shape


def _set_shape(self, shape):
    """Checks that the shape is compatible with the given one; a symbolic tensor has it from now."""
    shape = as_shape(shape)
    if not self.shape.is_compatible_with(shape):
        raise ValueError(
            f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}."
        )
    if _tidemark.is_symbolic(self) and shape.rank is not None:
        _tidemark.narrow_shape(self, tuple(shape.as_list()))


class Reference:
    """Stands for a tensor in sets and as a key: compares by identity. ``deref()`` gives it back."""

    __slots__ = ("_wrapped", "__weakref__")

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def deref(self):
        return self._wrapped

    def __eq__(self, other):
        if not isinstance(other, Reference):
            return NotImplemented
        return self._wrapped is other._wrapped

    def __hash__(self):
        return id(self._wrapped)

    def __repr__(self):
        return f"<Reference wrapping {self._wrapped!r}>"


def _ref(self):
    """A hashable reference to this tensor."""
    return Reference(self)


def _eval(self, feed_dict=None, session=None):
    if session is None and not _tidemark.is_symbolic(self):
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're "
            "looking for?"
        )
    from tidemark._v1.session import default_session  # only sessions need it

    return (session or default_session()).run(self, feed_dict)


def _consumers(self):
    """The operations of the graph that take it."""
    if not _tidemark.is_symbolic(self):
        raise NotImplementedError("Tensor.consumers is undefined when eager execution is enabled.")
    return symbolic.consumers_of(self)


class _OnlyInGraphs:
    """An attribute that tensors of graphs have. Subclasses may set one of their own."""

    def __init__(self, name, find):
        self._name, self._find = name, find

    def __get__(self, tensor, owner=None):
        if tensor is None:
            return self
        if tensor._is_symbolic:
            return self._find(tensor)
        raise AttributeError(f"Tensor.{self._name} is undefined when eager execution is enabled.")


# What operators are called as methods, for those who wrap tensors.
_UNARY = ("abs", "invert", "neg")
_COMPARING = ("eq", "ge", "gt", "le", "lt", "ne")
_BINARY = ("add", "and", "div", "floordiv", "matmul", "mod", "mul", "or", "pow", "sub", "truediv",
           "xor")  # fmt: skip
_OPERATORS = (*_UNARY, *_COMPARING, *_BINARY, *(f"r{name}" for name in _BINARY), "getitem")


def _numpy(self):
    """The value as a NumPy array."""
    return self.numpy()


def _nonzero(self):
    """Python 2's name of ``__bool__``."""
    return bool(self)


def _div(self, y):
    """Python 2's division: of integers, down to the next one."""
    return self / y if self.dtype.is_floating or self.dtype.is_complex else self // y


def _rdiv(self, x):
    return x / self if self.dtype.is_floating or self.dtype.is_complex else x // self


def install():
    """Puts the methods on the type."""
    methods = {
        "OVERLOADABLE_OPERATORS": {f"__{name}__" for name in _OPERATORS},
        "_numpy": _numpy,
        "__nonzero__": _nonzero,
        "__div__": _div,
        "__rdiv__": _rdiv,
        "__getitem__": getitem,
        "__repr__": _repr,
        "__str__": _str,
        "__format__": _format,
        "__round__": _round,
        "get_shape": _get_shape,
        "set_shape": _set_shape,
        "ref": _ref,
        "experimental_ref": _ref,
        "eval": _eval,
        "consumers": _consumers,
        "backing_device": property(lambda self: self.device),
        "is_packed": property(lambda self: False),
        "__tf_tensor__": lambda self, dtype=None, name=None: self,
    }
    in_graphs = {
        "op": symbolic.operation_of,
        "graph": symbolic.graph_of,
        "name": symbolic.name_of,
        "value_index": _tidemark.value_index,
    }
    for name, find in in_graphs.items():
        methods[name] = _OnlyInGraphs(name, find)
    for name, method in methods.items():
        if hasattr(method, "__qualname__"):
            method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    # Plain positions are answered without it.
    _tidemark.set_general_getitem(methods.pop("__getitem__"))
    _tidemark.extend_tensor(methods)


install()
