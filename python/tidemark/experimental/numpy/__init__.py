"""``tf.experimental.numpy``: NumPy's names over tensors, with NumPy's rules for dtypes.

Types and their limits, constants and the switch that gives tensors NumPy's methods are here; the
functions are loaded with the first of them that a program asks for.
"""

from __future__ import annotations

import functools as _functools
import importlib as _importlib

import numpy as _np

import tidemark as _tf
from tidemark import _tidemark, dtypes

e, pi, inf, newaxis = _np.e, _np.pi, _np.inf, None
ndarray = _tidemark.Tensor
bool_, object_, string_, unicode_ = _np.bool_, _np.object_, _np.bytes_, _np.str_
int8, int16, int32, int64 = _np.int8, _np.int16, _np.int32, _np.int64
uint8, uint16, uint32, uint64 = _np.uint8, _np.uint16, _np.uint32, _np.uint64
float16, float32, float64 = _np.float16, _np.float32, _np.float64
complex64, complex128 = _np.complex64, _np.complex128
int_, float_, complex_, inexact = _np.int64, _np.float64, _np.complex128, _np.inexact

_MODULES = ("_math", "_arrays", "_kinds")  # where the functions are, in the order asked


def __getattr__(name):
    if name == "random":
        return _importlib.import_module("tidemark.experimental.numpy.random")
    if not name.startswith("_") and name in _names():
        return _names()[name]
    raise AttributeError(f"module 'tidemark.experimental.numpy' has no attribute {name!r}")


@_functools.cache
def _names():
    found = {}
    for module in _MODULES:
        inside = vars(_importlib.import_module(f"tidemark.experimental.numpy.{module}"))
        for name, value in inside.items():
            if not name.startswith("_") and callable(value):
                found.setdefault(name, value)
    for name in ("array_of", "axes_from_zero", "floating", "is_tensor", "kind_of", "number",
                 "together", "Tensor"):  # fmt: skip
        found.pop(name, None)
    return found


def __dir__():
    return sorted({*(n for n in globals() if not n.startswith("_")), *_names(), "random"})


def finfo(dtype):
    """The limits of a floating-point type."""
    dtype = dtypes.as_dtype(dtype)
    if dtype == dtypes.bfloat16:
        import ml_dtypes  # loaded on first use

        return ml_dtypes.finfo(ml_dtypes.bfloat16)
    return _np.finfo(dtype.as_numpy_dtype)


def iinfo(dtype):
    """The limits of an integer type."""
    return _np.iinfo(dtypes.as_dtype(dtype).as_numpy_dtype)


def array(val, dtype=None, copy=True, ndmin=0):
    """A tensor of the values, with at least ``ndmin`` dimensions."""
    from tidemark.experimental.numpy._kinds import array_of  # loaded with the functions

    tensor = array_of(val, dtype)
    while ndmin and tensor.shape.rank < ndmin:
        tensor = _tf.expand_dims(tensor, 0)
    return _tf.identity(tensor) if copy else tensor


def asarray(a, dtype=None):
    """The values as a tensor."""
    return array(a, dtype, copy=False)


asanyarray = asarray


def ascontiguousarray(a, dtype=None):
    """The values as a tensor of at least one dimension."""
    return array(a, dtype, ndmin=1)


def copy(a):
    """A tensor of the values."""
    return array(a, copy=True)


def issubdtype(arg1, arg2):
    """Whether one type is of a kind."""
    return _np.issubdtype(
        *(d.as_numpy_dtype if isinstance(d, dtypes.DType) else d for d in (arg1, arg2))
    )


def einsum(subscripts, *operands, casting="safe", optimize=False):
    """Sums of products by letters for axes."""
    if casting != "safe":
        raise ValueError("casting argument is not supported.")
    from tidemark.experimental.numpy._kinds import together  # loaded with the functions

    return _tf.einsum(subscripts, *together(*operands))


def select(condlist, choicelist, default=0):
    """For each element the choice of the first condition that holds, or the default."""
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"condlist must have the same length as choicelist ({len(condlist)} vs "
            f"{len(choicelist)})"
        )
    if not condlist:
        raise ValueError("condlist must not be empty")
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = _tf.where(condition, choice, result)
    return result


def experimental_enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy"):
    """Gives tensors NumPy's methods and promotes mixed types; masks index without it."""
    modes = ("off", "legacy", "safe", "all")
    if dtype_conversion_mode not in modes:
        raise ValueError(f"dtype_conversion_mode must be one of {modes}")
    if dtype_conversion_mode != "off":
        _tidemark.set_dtype_promotion(True)

    def over(function):
        def method(self, axis=None, dtype=None, out=None, keepdims=None):
            if out is not None:
                raise ValueError("Setting out is not supported.")
            if dtype is None:
                return function(self, axis=axis, keepdims=keepdims)
            found = function(_tf.cast(self, dtype), axis=axis, keepdims=keepdims)
            return _tf.cast(found, dtype)  # a mean of integers is none of itself

        return method

    methods = {
        "__pos__": lambda self: self,
        "__round__": lambda self, digits=0: _names()["around"](self, digits),
        "T": property(lambda self: _tf.transpose(self)),
        "astype": lambda self, dtype: _tf.cast(self, dtype),
        "clip": lambda self, a_min=None, a_max=None: _tf.clip_by_value(self, a_min, a_max),
        "data": property(lambda self: self),
        "flatten": lambda self, order="C": _names()["flatten"](self, order),
        "max": over(_names()["amax"]),
        "mean": over(_names()["mean"]),
        "min": over(_names()["amin"]),
        "prod": over(_names()["prod"]),
        "ravel": lambda self: _tf.reshape(self, [-1]),
        "reshape": lambda self, *shape: _tf.reshape(self, shape[0] if len(shape) == 1 else shape),
        "size": property(lambda self: int(_np.prod(self._shape_tuple(), dtype=_np.int64))),
        "sum": over(_names()["sum"]),
        "tolist": lambda self: self.numpy().tolist(),
        "transpose": lambda self, *axes: _tf.transpose(self, list(axes) or None),
    }
    _tidemark.extend_tensor(methods)
