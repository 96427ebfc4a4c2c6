"""Strings taken apart and put together: ``tf.strings`` where the op's arguments are not its own."""

from __future__ import annotations

import tidemark
from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call


def strings_tensor(value):
    """A string tensor, from anything that can become one."""
    return convert_to_tensor(value, dtype=dtypes.string)


def ragged(values, *row_splits):
    """Nested rows over flat values, from the innermost splits outward."""
    for splits in row_splits:
        values = tidemark.RaggedTensor.from_row_splits(values, splits, validate=False)
    return values


def is_ragged(value):
    """Whether it is a RaggedTensor."""
    return hasattr(value, "nested_row_splits")


def rows_of(flat_values, row_splits, source):
    """What an op gave for the flattened strings of ``source``, in the rows of its shape."""
    if source.shape.rank is None:  # a vector, as TensorFlow takes it to be
        return ragged(flat_values, row_splits)
    shape = tuple(source.shape)
    if len(shape) == 0:
        return flat_values
    rows = ragged(flat_values, row_splits)
    for axis in range(len(shape) - 1, 0, -1):
        outer = 1
        for size in shape[:axis]:
            outer *= int(size)
        splits = call("range", (0, (outer + 1) * int(shape[axis]), int(shape[axis])), {})
        if int(shape[axis]) == 0:
            splits = call("fill", ([outer + 1], 0), {})
        rows = ragged(rows, call("cast", (splits,), {"dtype": dtypes.int64}))
    return rows


@export("tf.strings.join")
def join(inputs, separator="", name=None):
    """The strings at the same place of all inputs, joined with the separator between them."""
    parts = [strings_tensor(part) for part in inputs]
    if not parts:
        return convert_to_tensor("", dtype=dtypes.string)
    return call("string_join", tuple(parts), {"separator": separator})


def _mapped(function, value):
    """The function over the flat strings of a ragged tensor, in its rows."""
    return value.with_flat_values(function(value.flat_values))


@export("tf.strings.split")
def string_split(input, sep=None, maxsplit=-1, name=None):
    """The pieces of every string between separators (white space when there is none)."""
    if is_ragged(input):
        return _mapped(lambda flat: string_split(flat, sep, maxsplit), input)
    strings = strings_tensor(input)
    attrs = {"sep": "" if sep is None else sep, "maxsplit": maxsplit}
    return rows_of(*call("string_split", (strings,), attrs), strings)


@export("tf.strings.bytes_split")
def string_bytes_split(input, name=None):
    """The bytes of every string, each a string."""
    if is_ragged(input):
        return _mapped(string_bytes_split, input)
    strings = strings_tensor(input)
    return rows_of(*call("string_bytes_split", (strings,), {}), strings)


def _pads(pad_values):
    if pad_values is None:
        return "", ""
    if isinstance(pad_values, (str, bytes)):
        return pad_values, pad_values
    if len(pad_values) != 2 or not all(isinstance(value, (str, bytes)) for value in pad_values):
        raise TypeError(
            "pad_values must be a string, tuple of strings, or None, got "
            f"{pad_values!r} of {type(pad_values).__name__}"
        )
    return tuple(pad_values)


@export("tf.strings.ngrams")
def ngrams(
    data,
    ngram_width,
    separator=" ",
    pad_values=None,
    padding_width=None,
    preserve_short_sequences=False,
    name=None,
):
    """N-grams of the strings along the last dimension."""
    left, right = _pads(pad_values)
    if pad_values is not None and padding_width is not None and padding_width < 0:
        raise ValueError(f"padding_width must be greater than 0, got {padding_width}")
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    for width in widths:
        if not isinstance(width, int):
            raise TypeError(f"All ngram_widths must be integers, got {width!r}")
        if width < 1:
            raise ValueError(f"All ngram_widths must be greater than 0, got {width}")
    pad_width = 0 if pad_values is None else -1 if padding_width is None else padding_width
    attrs = {
        "separator": separator,
        "ngram_widths": widths,
        "left_pad": left,
        "right_pad": right,
        "pad_width": pad_width,
        "preserve_short_sequences": preserve_short_sequences,
    }
    if is_ragged(data):
        rows = data
        while is_ragged(rows.values):
            rows = rows.values
        flat, splits = call("string_ngrams", (rows.values, rows.row_splits), attrs)
        return ragged(flat, splits, *reversed(data.nested_row_splits[:-1]))
    return _dense_ngrams(strings_tensor(data), attrs)


def _dense_ngrams(data, attrs):
    if data.ndim == 0:
        raise ValueError("Data must have rank > 0")
    outer, length = tuple(data.shape)[:-1], data.shape[-1]
    count = 1
    for size in outer:
        count *= size
    splits = call("range", (0, count * length + 1, max(length, 1)), {})
    if length == 0:
        splits = call("fill", ([count + 1], 0), {})
    flat, _ = call("string_ngrams", (call("reshape", (data, [-1]), {}), splits), attrs)
    return call("reshape", (flat, [*outer, flat.shape[0] // max(count, 1)]), {})


@export("tf.strings.format")
def string_format(template, inputs, placeholder="{}", summarize=3, name=None):
    """The template with the placeholders replaced by the values of tensors."""
    values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    values = [convert_to_tensor(value) for value in values]
    texts = template.split(placeholder)
    if len(texts) - 1 != len(values):
        raise ValueError(
            f"The template expects {len(texts) - 1} tensors, but the inputs only has {len(values)}."
            " Please ensure the number of placeholders in template matches inputs length."
        )
    attrs = {"summarize": -1 if summarize is None else summarize}
    parts = [convert_to_tensor(texts[0])]
    for value, text in zip(values, texts[1:], strict=True):
        parts += [call("tensor_summary", (value,), attrs), convert_to_tensor(text)]
    return call("string_join", tuple(parts), {"separator": ""})


@export("tf.strings.unsorted_segment_join")
def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    """The strings of each segment joined, in their order."""
    strings = strings_tensor(inputs)
    ids = convert_to_tensor(segment_ids)
    inner = strings.ndim - ids.ndim
    if tuple(strings.shape[: ids.ndim]) != tuple(ids.shape):
        raise ValueError(
            f"[unsorted_segment_join] inputs of shape {strings.shape} must begin with the "
            f"dimensions of segment_ids, {ids.shape}"
        )
    attrs = {"separator": separator}
    shape = [int(num_segments), *(strings.shape[-inner:] if inner else [])]
    return call(
        "reshape",
        (
            call(
                "string_segment_join",
                (
                    call("reshape", (strings, [ids.shape.num_elements(), -1]), {}),
                    call("reshape", (ids, [-1]), {}),
                    num_segments,
                ),
                attrs,
            ),
            shape,
        ),
        {},
    )
