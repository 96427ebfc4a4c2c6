"""``tf.quantization``: values rounded as if they had few bits, with gradients for training.

tf.quantization.fake_quant_with_min_max_vars(x, min=-1.0, max=1.0, num_bits=8)
"""

from __future__ import annotations

from tidemark._export import refusing as _refusing
from tidemark._tensor.creation import convert_to_tensor
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
    along = _others(input, axis)

    @custom_gradient
    def rounded(x, low, high):
        bounds = (low, high) if range_given else [call(op, (x,), {"axis": along})
                                                  for op in ("min", "max")]  # fmt: skip
        if along is not None:
            shape = [1] * x.ndim
            shape[axis] = -1
            low, high, *bounds = (call("reshape", (b, shape), {}) for b in (low, high, *bounds))
        made = _nearest(x, *bounds, signed_input, int(num_bits), range_given, round_mode,
                        narrow_range)  # fmt: skip

        def gradient(dy):
            """It goes to values within the range that was given: to none where none was."""
            inside = call("logical_and", (x >= low, x <= high), {})
            nothing = call("zeros_like", (x,), {"dtype": None})
            return call("select", (inside, dy, nothing), {}), None, None

        return made, gradient

    kind = input.dtype._enum
    return rounded(input, convert(input_min, kind), convert(input_max, kind))


def _others(input, axis):
    """The dimensions but one; None where values are looked at all together."""
    if axis is None:
        return None
    if not -input.ndim <= axis < input.ndim:
        raise InvalidArgumentError(
            None, None, f"[quantize_and_dequantize] invalid axis: the rank is {input.ndim},"
            f" and axis is {axis}",
        )  # fmt: skip
    return [d for d in range(input.ndim) if d != axis % input.ndim]


def _nearest(x, low, high, signed, num_bits, range_given, round_mode, narrow_range):
    if not 1 <= num_bits <= 62:
        raise InvalidArgumentError(None, None, f"num_bits is out of range: {num_bits}")
    least = (-(1 << (num_bits - 1)) + narrow_range if signed else 0) * 1.0
    most = ((1 << (num_bits - 1)) - 1 if signed else (1 << num_bits) - 1) * 1.0
    # Steps a unit: as many as fit the bound that needs the wider range.
    scale = call("select", (high * most > 0, most / high, high * 0 + 3.4e38), {})
    if least:
        deep = call("select", (low * least > 0, least / low, low * 0 + 3.4e38), {})
        scale = call("minimum", (scale, deep), {})
    scale = call("select", (scale < 3.4e38, scale, scale * 0 + 1), {})
    if range_given:
        x = call("clip_by_value", (x, least / scale, most / scale), {})
    steps = x * scale
    if round_mode == "HALF_UP":
        return call("floor", (steps + 0.5,), {}) / scale
    return call("round", (steps,), {}) / scale


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
