"""``tf.experimental.numpy``: some of NumPy's names over tensors.

What libraries use of it is here: types and their limits, constants, ``select``, the switch that
gives tensors NumPy's methods, and the functions that are ops under the same name.
"""

from __future__ import annotations

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

# op names: NumPy's functions, and what does the same under TensorFlow's names.
_SAME = {
    "abs": "abs", "absolute": "abs", "add": "add", "angle": "math.angle", "arccos": "acos",
    "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "argmax": "argmax", "argmin": "argmin",
    "bitwise_and": "bitwise.bitwise_and", "bitwise_not": "bitwise.invert",
    "bitwise_or": "bitwise.bitwise_or", "bitwise_xor": "bitwise.bitwise_xor",
    "broadcast_to": "broadcast_to", "ceil": "math.ceil", "clip": "clip_by_value",
    "conj": "math.conj", "conjugate": "math.conj", "cos": "cos", "cosh": "cosh",
    "divide": "divide", "einsum": "einsum", "equal": "equal", "exp": "exp",
    "expand_dims": "expand_dims", "expm1": "math.expm1", "floor": "floor",
    "floor_divide": "math.floordiv", "greater": "greater", "greater_equal": "greater_equal",
    "imag": "math.imag", "isfinite": "math.is_finite", "isinf": "math.is_inf",
    "isnan": "math.is_nan", "less": "less", "less_equal": "less_equal", "log": "math.log",
    "log1p": "math.log1p", "logical_and": "logical_and", "logical_not": "logical_not",
    "logical_or": "logical_or", "logical_xor": "math.logical_xor", "matmul": "matmul",
    "maximum": "maximum", "minimum": "minimum", "mod": "math.floormod", "multiply": "multiply",
    "negative": "negative", "nextafter": "math.nextafter", "not_equal": "not_equal",
    "ones_like": "ones_like", "power": "pow", "real": "math.real",
    "reciprocal": "math.reciprocal", "remainder": "math.floormod", "reshape": "reshape",
    "round": "round", "sign": "sign", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt",
    "square": "square", "squeeze": "squeeze", "stack": "stack", "subtract": "subtract",
    "tan": "tan", "tanh": "tanh", "tensordot": "tensordot", "tile": "tile",
    "transpose": "transpose", "true_divide": "truediv", "zeros_like": "zeros_like",
}  # fmt: skip


def __getattr__(name):
    if name not in _SAME:
        raise AttributeError(f"module 'tidemark.experimental.numpy' has no attribute {name!r}")
    found = _tf
    for part in _SAME[name].split("."):
        found = getattr(found, part)
    return found


def __dir__():
    return sorted({*(n for n in globals() if not n.startswith("_")), *_SAME})


def finfo(dtype):
    """The limits of a floating-point type."""
    dtype = dtypes.as_dtype(dtype)
    if dtype == dtypes.bfloat16:
        import ml_dtypes

        return ml_dtypes.finfo(ml_dtypes.bfloat16)
    return _np.finfo(dtype.as_numpy_dtype)


def iinfo(dtype):
    """The limits of an integer type."""
    return _np.iinfo(dtypes.as_dtype(dtype).as_numpy_dtype)


def array(val, dtype=None, copy=True, ndmin=0):
    """A tensor of the values, with at least ``ndmin`` dimensions."""
    tensor = _tf.convert_to_tensor(val) if dtype is None else _tf.cast(val, dtype)
    while tensor.ndim < ndmin:
        tensor = _tf.expand_dims(tensor, 0)
    return _tf.identity(tensor) if copy else tensor


def asarray(a, dtype=None):
    """The values as a tensor."""
    return array(a, dtype, copy=False)


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
        return lambda self, axis=None, keepdims=False: function(self, axis, keepdims)

    methods = {
        "T": property(lambda self: _tf.transpose(self)),
        "astype": lambda self, dtype: _tf.cast(self, dtype),
        "clip": lambda self, a_min=None, a_max=None: _tf.clip_by_value(self, a_min, a_max),
        "max": over(_tf.reduce_max),
        "mean": over(_tf.reduce_mean),
        "min": over(_tf.reduce_min),
        "prod": over(_tf.reduce_prod),
        "ravel": lambda self: _tf.reshape(self, [-1]),
        "reshape": lambda self, *shape: _tf.reshape(self, shape[0] if len(shape) == 1 else shape),
        "size": property(lambda self: int(_np.prod(self._shape_tuple(), dtype=_np.int64))),
        "sum": over(_tf.reduce_sum),
        "tolist": lambda self: self.numpy().tolist(),
        "transpose": lambda self, *axes: _tf.transpose(self, list(axes) or None),
    }
    _tidemark.extend_tensor(methods)
