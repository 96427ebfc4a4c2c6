"""``tf.experimental.dispatch_for_…``: a program's own types answer for TensorFlow's functions.

@tf.experimental.dispatch_for_api(tf.concat)
def masked_concat(values: list[Masked], axis, name="concat"):
    ...
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import types
import typing

import tidemark as tf
from tidemark.__internal__.dispatch import OpDispatcher, _for_one, ask
from tidemark._tensor.specs import TypeSpec

# The functions of one, or of two, tensors that work element by element, as TensorFlow counts them.
_UNARY = """
zeros_like ones_like debugging.check_numerics math.abs math.softplus math.sign math.real math.imag
math.angle math.round cast dtypes.saturate_cast math.sigmoid math.log_sigmoid math.conj
math.reciprocal_no_nan math.erfinv math.ndtri math.erfcinv math.ceil math.sqrt math.exp math.rsqrt
math.acos math.floor bitwise.invert math.acosh math.asin math.asinh math.atan math.atanh math.cos
math.cosh math.digamma math.erf math.erfc math.expm1 math.is_finite math.is_inf math.is_nan
math.lgamma math.log math.log1p math.logical_not math.negative math.nextafter math.reciprocal
math.rint math.sin math.sinh math.square math.tan math.tanh nn.relu6 nn.leaky_relu nn.gelu
nn.log_softmax nn.elu nn.relu nn.selu nn.softsign strings.regex_full_match strings.regex_replace
strings.length strings.substr strings.to_number strings.to_hash_bucket strings.as_string
io.decode_base64 io.encode_base64 strings.lower strings.upper strings.unicode_transcode
strings.strip strings.to_hash_bucket_fast strings.to_hash_bucket_strong math.special.dawsn
math.special.expint math.special.fresnel_cos math.special.fresnel_sin math.special.spence
math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e math.special.bessel_k0
math.special.bessel_k0e math.special.bessel_k1 math.special.bessel_k1e math.special.bessel_j0
math.special.bessel_j1 math.special.bessel_y0 math.special.bessel_y1 clip_by_value nn.silu
image.random_brightness image.stateless_random_brightness image.adjust_brightness
image.adjust_gamma image.convert_image_dtype io.decode_compressed
"""
_BINARY = """
math.divide math.multiply math.subtract math.scalar_mul math.pow dtypes.complex math.truediv
math.divide_no_nan math.multiply_no_nan math.floordiv math.logical_xor math.equal math.not_equal
math.add math.xdivy math.xlog1py bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor
bitwise.left_shift bitwise.right_shift math.atan2 math.floormod math.greater math.greater_equal
math.less math.less_equal math.logical_and math.logical_or math.maximum math.minimum realdiv
math.squared_difference truncatediv truncatemod math.xlogy math.zeta
nn.sigmoid_cross_entropy_with_logits
"""
_ASSERTS = """
debugging.assert_equal debugging.assert_greater debugging.assert_greater_equal
debugging.assert_less debugging.assert_less_equal debugging.assert_near debugging.assert_none_equal
"""


def _functions(names):
    return [functools.reduce(getattr, name.split("."), tf) for name in names.split()]


_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))


def _check(kind):
    """Raises unless values can be told to be of this annotation."""
    origin = typing.get_origin(kind)
    if origin in _UNIONS or origin in (list, collections.abc.Sequence):
        for part in typing.get_args(kind):
            _check(part)
    elif not isinstance(kind, (type, TypeSpec)):
        raise ValueError(f"type annotation {kind} is not supported for dispatch.")


def _is_of(value, kind):
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in _UNIONS:
        return any(_is_of(value, part) for part in parts)
    if origin in (list, collections.abc.Sequence):
        return isinstance(value, (list, tuple)) and all(_is_of(v, parts[0]) for v in value)
    if isinstance(kind, TypeSpec):
        return kind.is_compatible_with(value)
    return isinstance(value, kind)


def _classes(kind):
    """The classes that an annotation names."""
    parts = typing.get_args(kind)
    if parts:
        return [cls for part in parts for cls in _classes(part)]
    return [kind.value_type if isinstance(kind, TypeSpec) else kind]


class _ForSignatures(OpDispatcher):
    """Calls a function where arguments are of the kinds of one of its signatures."""

    def __init__(self, target, api, signatures):
        self._target, self._parameters = target, inspect.signature(api)
        self._signatures = signatures

    def of(self):
        """The function that is called."""
        return self._target

    def handle(self, args, kwargs):
        try:
            given = self._parameters.bind(*args, **kwargs).arguments
        except TypeError:
            return self.NOT_SUPPORTED
        names = list(self._parameters.parameters)
        for signature in self._signatures:
            pairs = [
                (given.get(names[key] if isinstance(key, int) else key, _ABSENT), kind)
                for key, kind in signature.items()
            ]
            if all(value is not _ABSENT and _is_of(value, kind) for value, kind in pairs):
                return self._target(*args, **kwargs)
        return self.NOT_SUPPORTED


_ABSENT = object()


def _register(target, api, signatures):
    for signature in signatures:
        for kind in signature.values():
            _check(kind)
            for cls in _classes(kind):
                if not hasattr(cls, "__tf_dispatch__"):
                    cls.__tf_dispatch__ = staticmethod(ask)
    _ForSignatures(target, api, signatures).register(api)


def dispatch_for_api(api, *signatures):
    """A decorator: the function is called for ``api`` where arguments are of the given types, or
    of those that its annotations name."""

    def decorate(target):
        ours, theirs = inspect.signature(target).parameters, inspect.signature(api).parameters
        if [name for name in ours if name != "name"] != [n for n in theirs if n != "name"]:
            raise ValueError(
                "Dispatch function's signature does not match that of the function it is for: "
                f"{list(ours)} and {list(theirs)}"
            )
        hints = typing.get_type_hints(target) if not signatures else {}
        found = signatures or ({name: hints[name] for name in ours if name in hints},)
        if not all(found):
            raise ValueError("must be annotated, or signatures given: no argument has a type")
        _register(target, api, found)
        return target

    return decorate


def _elementwise(names, count, kinds):
    def decorate(handler):
        if len(inspect.signature(handler).parameters) != count + 1:
            raise TypeError(f"the function has to take the API and {count} values")
        for api in _functions(names):
            first = list(inspect.signature(api).parameters)[:count]
            signature = dict(zip(first, kinds, strict=True))
            _register(_answering(handler, api, first), api, (signature,))
        return handler

    return decorate


def _answering(handler, api, names):
    """The handler for one function: what it calls takes values and keeps the other arguments."""
    parameters = inspect.signature(api)

    @functools.wraps(handler)
    def target(*args, **kwargs):
        given = dict(parameters.bind(*args, **kwargs).arguments)
        values = [given.pop(name) for name in names]
        if not given:
            return handler(api, *values)
        return handler(lambda *new: api(**dict(zip(names, new, strict=True)), **given), *values)

    return target


def dispatch_for_unary_elementwise_apis(x_type):
    """A decorator: ``handler(api_func, x)`` answers for all functions of one such value."""
    return _elementwise(_UNARY, 1, (x_type,))


def dispatch_for_binary_elementwise_apis(x_type, y_type):
    """A decorator: ``handler(api_func, x, y)`` answers for all functions of two such values."""
    return _elementwise(_BINARY, 2, (x_type, y_type))


def dispatch_for_binary_elementwise_assert_apis(x_type, y_type):
    """A decorator: ``handler(assert_func, x, y)`` answers for all comparisons that may fail."""
    return _elementwise(_ASSERTS, 2, (x_type, y_type))


def unregister_dispatch_for(dispatch_target):
    """Takes back what a decorator of this module registered."""
    found = False
    for dispatchers in _for_one.values():
        for one in list(dispatchers):
            target = one.of() if isinstance(one, _ForSignatures) else None
            if target is dispatch_target or (
                getattr(target, "__wrapped__", None) is dispatch_target
            ):
                dispatchers.remove(one)
                found = True
    if not found:
        raise ValueError(f"Function {dispatch_target} was not registered using a `@dispatch_for`.")
