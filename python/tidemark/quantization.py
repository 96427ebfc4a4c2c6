"""``tf.quantization``: values rounded as if they had few bits, with gradients for training.

tf.quantization.fake_quant_with_min_max_vars(x, min=-1.0, max=1.0, num_bits=8)
"""

from __future__ import annotations

from tidemark._export import refusing as _refusing
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import call, convert
from tidemark.autodiff._custom_gradient import custom_gradient
from tidemark.errors import InvalidArgumentError


def fake_quant_with_min_max_args(inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None):
    """As fake_quant_with_min_max_vars, for a fixed range."""
    if not min < max:
        raise InvalidArgumentError(
            None, None, f"min has to be smaller than max, was: {min} >= {max}"
        )
    return fake_quant_with_min_max_vars(inputs, float(min), float(max), num_bits, narrow_range)


def fake_quant_with_min_max_vars(inputs, min, max, num_bits=8, narrow_range=False, name=None):
    """Values between two bounds, rounded to 2**num_bits steps; others become the bounds."""
    return _rounded(inputs, min, max, num_bits, narrow_range, channels=False)


def fake_quant_with_min_max_vars_per_channel(
    inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """As fake_quant_with_min_max_vars, with bounds for each index of the last dimension."""
    return _rounded(inputs, min, max, num_bits, narrow_range, channels=True)


def _rounded(inputs, low, high, num_bits, narrow_range, channels):
    _check_bits(num_bits)

    @custom_gradient
    def rounded(x, low, high):
        bottom, top, scale = _nudged(low, high, num_bits, narrow_range)
        inside = call("clip_by_value", (x, bottom, top), {})
        inverse = call("divide_no_nan", (1.0, scale), {})  # decides ties as TensorFlow does
        steps = call("floor", ((inside - bottom) * inverse + 0.5,), {})
        return steps * scale + bottom, lambda dy: _gradients(dy, x, bottom, top, channels)

    kind = convert_to_tensor(inputs).dtype._enum
    return rounded(inputs, convert(low, kind), convert(high, kind))


def _check_bits(num_bits):
    if not 2 <= num_bits <= 16:
        raise InvalidArgumentError(
            None, None, f"num_bits must be between 2 and 16, inclusive, was: {num_bits}"
        )


def _nudged(low, high, num_bits, narrow_range):
    """Bounds moved so that zero is one of the steps, and the size of a step."""
    first, last = float(narrow_range), float(2**num_bits - 1)
    scale = (high - low) / (last - first)
    zero = first - call("divide_no_nan", (low, scale), {})
    nearest = call("floor", (zero + 0.5,), {})
    nearest = call("clip_by_value", (nearest, first, last), {})
    return (first - nearest) * scale, (last - nearest) * scale, scale


def _gradients(dy, x, bottom, top, channels):
    """Of the inputs: where they lie inside. Of a bound: from the inputs beyond it."""
    zero = call("zeros_like", (dy,), {"dtype": None})
    below, above = x < bottom, x > top
    beyond = call("logical_or", (below, above), {})
    axes = list(range(x.shape.rank - 1)) if channels else None

    def total(where):
        return call("sum", (call("select", (where, dy, zero), {}),), {"axis": axes})

    return call("select", (beyond, zero, dy), {}), total(below), total(above)


def fake_quant_with_min_max_args_gradient(
    gradients, inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None
):
    """The gradient of fake_quant_with_min_max_args."""
    found = fake_quant_with_min_max_vars_gradient(
        gradients, inputs, float(min), float(max), num_bits, narrow_range
    )
    return found[0]


def fake_quant_with_min_max_vars_gradient(
    gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """The gradients of fake_quant_with_min_max_vars by the inputs and both bounds."""
    return _all_gradients(gradients, inputs, min, max, num_bits, narrow_range, False)


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """The gradients of fake_quant_with_min_max_vars_per_channel."""
    return _all_gradients(gradients, inputs, min, max, num_bits, narrow_range, True)


def _all_gradients(dy, x, low, high, num_bits, narrow_range, channels):
    _check_bits(num_bits)
    x = convert_to_tensor(x)
    low, high = convert(low, x.dtype._enum), convert(high, x.dtype._enum)
    bottom, top, _ = _nudged(low, high, num_bits, narrow_range)
    return _gradients(convert_to_tensor(dy), x, bottom, top, channels)


def quantize_and_dequantize_v2(
    input, input_min, input_max, signed_input=True, num_bits=8, range_given=False,
    round_mode="HALF_TO_EVEN", name=None, narrow_range=False, axis=None,
):  # fmt: skip
    """Each value as the nearest of those that so many bits can tell apart."""
    input = convert_to_tensor(input)
    num_bits = int(num_bits)
    along = None if axis in (None, -1) else [d for d in range(input.ndim) if d != axis % input.ndim]
    if range_given:
        low, high = convert(input_min, input.dtype._enum), convert(input_max, input.dtype._enum)
    else:
        low, high = (call(op, (input,), {"axis": along}) for op in ("min", "max"))
    if along is not None:
        shape = [1] * input.ndim
        shape[axis] = -1
        low, high = (call("reshape", (bound, shape), {}) for bound in (low, high))
    least = (-(1 << (num_bits - 1)) + narrow_range if signed_input else 0) * 1.0
    most = ((1 << (num_bits - 1)) - 1 if signed_input else (1 << num_bits) - 1) * 1.0
    # Steps a unit: as many as fit the bound that needs the wider range.
    wide = call("select", (high > 0, most / high, high * 0 + 3.4e38), {})
    if least:
        deep = call("select", (low < 0, least / low, low * 0 + 3.4e38), {})
        wide = call("minimum", (wide, deep), {})
    scale = call("select", (wide < 3.4e38, wide, wide * 0 + 1), {})
    bottom, top = least / scale, most / scale
    steps = call("clip_by_value", (input, bottom, top), {}) * scale
    rounded = (
        call("floor", (steps + 0.5,), {})
        if round_mode == "HALF_UP"
        else call("round", (steps,), {})
    )
    passed = call("logical_and", (input >= bottom, input <= top), {})
    through = input * cast(passed, input.dtype)  # its gradient goes to values in the range
    return through + call("stop_gradient", (rounded / scale - through,), {})


def quantize_and_dequantize(
    input, input_min, input_max, signed_input=True, num_bits=8, range_given=False,
    round_mode="HALF_TO_EVEN", name=None, narrow_range=False, axis=None,
):  # fmt: skip
    """As quantize_and_dequantize_v2."""
    return quantize_and_dequantize_v2(
        input, input_min, input_max, signed_input, num_bits, range_given, round_mode, name,
        narrow_range, axis,
    )  # fmt: skip


__getattr__ = _refusing("tf.quantization")
