"""Code points of strings: ``tf.strings.unicode_*``."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import call
from tidemark.strings._split_and_join import is_ragged, rows_of, strings_tensor


def _attrs(encoding, errors, replacement_char):
    return {
        "input_encoding": encoding,
        "errors": errors,
        "replacement_char": replacement_char,
    }


@export("tf.strings.unicode_decode")
def unicode_decode(
    input,
    input_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
):
    """The code points of every string."""
    return unicode_decode_with_offsets(
        input, input_encoding, errors, replacement_char, replace_control_characters
    )[0]


@export("tf.strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input,
    input_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
):
    """The code points of every string, and the byte each begins at."""
    if is_ragged(input):
        points, starts = unicode_decode_with_offsets(
            input.flat_values, input_encoding, errors, replacement_char, replace_control_characters
        )
        return input.with_flat_values(points), input.with_flat_values(starts)
    strings = strings_tensor(input)
    attrs = _attrs(input_encoding, errors, replacement_char)
    attrs["replace_control_characters"] = replace_control_characters
    points, starts, splits = call("unicode_decode", (strings,), attrs)
    return rows_of(points, splits, strings), rows_of(starts, splits, strings)


@export("tf.strings.unicode_encode")
def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):
    """The code points along the last dimension as strings."""
    attrs = {
        "output_encoding": output_encoding,
        "errors": errors,
        "replacement_char": replacement_char,
    }
    if is_ragged(input):
        if is_ragged(input.values):
            return input.with_values(
                unicode_encode(input.values, output_encoding, errors, replacement_char)
            )
        return call("unicode_encode", (cast(input.values, dtypes.int32), input.row_splits), attrs)
    points = cast(convert_to_tensor(input), dtypes.int32)
    if points.ndim == 0:
        raise ValueError("input_tensor's rank must be at least 1.")
    *outer, length = tuple(points.shape)
    count = 1
    for size in outer:
        count *= size
    splits = call("range", (0, count + 1, 1), {}) * length
    flat = call("unicode_encode", (call("reshape", (points, [-1]), {}), splits), attrs)
    return call("reshape", (flat, outer), {})


@export("tf.strings.unicode_split")
def unicode_split(input, input_encoding, errors="replace", replacement_char=65533, name=None):
    """The characters of every string, each a string of the same encoding."""
    return unicode_split_with_offsets(input, input_encoding, errors, replacement_char)[0]


@export("tf.strings.unicode_split_with_offsets")
def unicode_split_with_offsets(
    input, input_encoding, errors="replace", replacement_char=65533, name=None
):
    """The characters of every string, and the byte each begins at."""
    if is_ragged(input):
        parts, starts = unicode_split_with_offsets(
            input.flat_values, input_encoding, errors, replacement_char
        )
        return input.with_flat_values(parts), input.with_flat_values(starts)
    strings = strings_tensor(input)
    points, starts, splits = call(
        "unicode_decode", (strings,), _attrs(input_encoding, errors, replacement_char)
    )
    each = call("range", (0, points.shape[0] + 1, 1), {})
    attrs = {
        "output_encoding": input_encoding,
        "errors": errors,
        "replacement_char": replacement_char,
    }
    characters = call("unicode_encode", (points, each), attrs)
    return rows_of(characters, splits, strings), rows_of(starts, splits, strings)
