"""What convolutions and poolings share: data formats, strides and paddings as users give them."""

from __future__ import annotations

from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import sizes_of
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError

_LETTERS = {1: "W", 2: "HW", 3: "DHW"}


def is_channels_first(data_format, spatial):
    """Whether "NC…"; raises ValueError for a format that does not fit."""
    last, first = f"N{_LETTERS[spatial]}C", f"NC{_LETTERS[spatial]}"
    if data_format is None or data_format == last or data_format == "NHWC" and spatial == 1:
        return False
    if data_format == first or data_format == "NCHW" and spatial == 1:
        return True
    raise ValueError(f"`data_format` must be {last!r} or {first!r}. Received: {data_format!r}")


def per_dimension(value, spatial, channels_first, name):
    """One number a spatial dimension, from a number or a list, with batch and channels or not."""
    if value is None:
        return [1] * spatial
    items = [int(value)] if not hasattr(value, "__len__") else [int(v) for v in value]
    if len(items) == 1:
        return items * spatial
    if len(items) == spatial:
        return items
    if len(items) != spatial + 2:
        raise ValueError(
            f"`{name}` should be of length 1, {spatial} or {spatial + 2}. Received: {name}={value} "
            f"of length {len(items)}"
        )
    channel = 1 if channels_first else spatial + 1
    if items[0] != 1 or items[channel] != 1:
        raise InvalidArgumentError(
            None,
            None,
            f"`{name}` in the batch and depth dimensions must be 1. Received: {name}={value}",
        )
    return items[2:] if channels_first else items[1:-1]


def padding_attrs(padding, spatial, channels_first):
    """The attributes of the ops from "SAME", "VALID" or a list of pairs."""
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(
                f"`padding` must be 'SAME', 'VALID' or a list of pairs. Received: {padding!r}"
            )
        return {"padding": padding.upper()}
    pairs = [tuple(int(v) for v in pair) for pair in padding]
    if len(pairs) == spatial + 2:
        channel = 1 if channels_first else spatial + 1
        if any(pairs[0]) or any(pairs[channel]):
            raise ValueError(
                "Nonzero explicit padding in the batch or depth dimensions is not supported. "
                f"Received: padding={padding}"
            )
        pairs = pairs[2:] if channels_first else pairs[1:-1]
    if len(pairs) != spatial or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"An explicit `padding` holds a pair for each of the {spatial + 2} dimensions. "
            f"Received: {padding}"
        )
    return {"padding": "EXPLICIT", "explicit_paddings": [v for pair in pairs for v in pair]}


def to_channels_last(x, channels_first):
    if not channels_first:
        return x
    return call("transpose", (x,), {"perm": [0, *range(2, x.ndim), 1]})


def from_channels_last(x, channels_first):
    if not channels_first:
        return x
    return call("transpose", (x,), {"perm": [0, x.ndim - 1, *range(1, x.ndim - 1)]})


def with_one_batch(x, spatial, run):
    """run(x) on an image tensor whose leading dimensions are made one, and split up again."""
    x = convert_to_tensor(x)
    extra = 0 if x.ndim is None else x.ndim - spatial - 2
    if extra <= 0:
        return run(x)
    sizes = sizes_of(x)
    y = run(call("reshape", (x, [-1, *sizes[extra + 1 :]]), {}))
    return call("reshape", (y, [*sizes[: extra + 1], *sizes_of(y)[1:]]), {})
