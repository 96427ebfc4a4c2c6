"""Moving blocks of pixels between space, depth and batch."""

from __future__ import annotations

import tidemark
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import sizes_of, static_array, static_ints
from tidemark._tidemark import call, convert
from tidemark.errors import InvalidArgumentError


def _fail(op, message):
    raise InvalidArgumentError(None, None, f"[{op}] {message}")


def _reshaped(x, dims):
    return call("reshape", (x, convert_to_tensor(dims)), {})


def _pictures(op, x, block_size, data_format):
    x = convert_to_tensor(x)
    if data_format not in ("NHWC", "NCHW"):
        _fail(op, f"data_format must be 'NHWC' or 'NCHW', got {data_format!r}")
    if x.ndim != 4:
        _fail(op, f"takes tensors of four dimensions, got shape {x.shape}")
    if block_size < 2:
        _fail(op, f"block_size must be 2 or more, got {block_size}")
    return x, sizes_of(x)


def _divided(op, size, by, what):
    if isinstance(size, int) and size % by:
        _fail(op, f"{what} must be divisible by {by}, got {size}")
    return size // by


@export("tf.nn.space_to_depth")
def space_to_depth(input, block_size, data_format="NHWC", name=None):
    """Blocks of pixels become one pixel of so many times the channels."""
    b = int(block_size)
    x, dims = _pictures("space_to_depth", input, b, data_format)
    if data_format == "NHWC":
        n, h, w, c = dims
        high = _divided("space_to_depth", h, b, "the height")
        wide = _divided("space_to_depth", w, b, "the width")
        blocks = _reshaped(x, [n, high, b, wide, b, c])
        blocks = call("transpose", (blocks,), {"perm": [0, 1, 3, 2, 4, 5]})
        return _reshaped(blocks, [n, high, wide, b * b * c])
    n, c, h, w = dims
    high = _divided("space_to_depth", h, b, "the height")
    wide = _divided("space_to_depth", w, b, "the width")
    blocks = _reshaped(x, [n, c, high, b, wide, b])
    blocks = call("transpose", (blocks,), {"perm": [0, 3, 5, 1, 2, 4]})
    return _reshaped(blocks, [n, b * b * c, high, wide])


@export("tf.nn.depth_to_space")
def depth_to_space(input, block_size, data_format="NHWC", name=None):
    """The channels of a pixel become a block of pixels."""
    b = int(block_size)
    x, dims = _pictures("depth_to_space", input, b, data_format)
    if data_format == "NHWC":
        n, h, w, c = dims
        depth = _divided("depth_to_space", c, b * b, "the number of channels")
        blocks = _reshaped(x, [n, h, w, b, b, depth])
        blocks = call("transpose", (blocks,), {"perm": [0, 1, 3, 2, 4, 5]})
        return _reshaped(blocks, [n, h * b, w * b, depth])
    n, c, h, w = dims
    depth = _divided("depth_to_space", c, b * b, "the number of channels")
    blocks = _reshaped(x, [n, b, b, depth, h, w])
    blocks = call("transpose", (blocks,), {"perm": [0, 3, 4, 1, 5, 2]})
    return _reshaped(blocks, [n, depth, h * b, w * b])


def _block_numbers(op, x, block_shape, edges, what):
    blocks = static_ints(block_shape, "block_shape")
    array = static_array(edges, what)
    if array.shape != (len(blocks), 2):
        _fail(op, f"{what} must have shape [{len(blocks)}, 2], got {list(array.shape)}")
    if x.ndim < 1 + len(blocks):
        _fail(op, f"input must have at least {1 + len(blocks)} dimensions, got shape {x.shape}")
    if any(b < 1 for b in blocks):
        _fail(op, f"block_shape must be positive, got {blocks}")
    edges = [[int(e) for e in pair] for pair in array.tolist()]
    if any(e < 0 for pair in edges for e in pair):
        _fail(op, f"{what} must not be negative, got {edges}")
    return blocks, edges


@export("tf.space_to_batch", "tf.nn.space_to_batch", "tf.space_to_batch_nd")
@sized_when_run
def space_to_batch(input, block_shape, paddings, name=None):
    """Pixels that lie a block apart become pictures of their own, along the batch."""
    op, x = "space_to_batch", convert_to_tensor(input)
    blocks, paddings = _block_numbers(op, x, block_shape, paddings, "paddings")
    count = len(blocks)
    edges = [[0, 0], *paddings, *[[0, 0]] * (x.ndim - 1 - count)]
    x = call("pad", (x, convert(edges), convert(0, x._dtype_enum)), {})
    n, *space = sizes_of(x)
    sizes = [_divided(op, d, b, "a padded size") for d, b in zip(space, blocks, strict=False)]
    pairs = [size for pair in zip(sizes, blocks, strict=True) for size in pair]
    x = _reshaped(x, [n, *pairs, *space[count:]])
    perm = [2 + 2 * i for i in range(count)] + [0] + [1 + 2 * i for i in range(count)]
    x = call("transpose", (x,), {"perm": perm + list(range(2 * count + 1, x.ndim))})
    for b in blocks:
        n = n * b
    return _reshaped(x, [n, *sizes, *space[count:]])


space_to_batch_nd = space_to_batch


@export("tf.batch_to_space")
@sized_when_run
def batch_to_space(input, block_shape, crops, name=None):
    """What ``tf.space_to_batch`` did, undone, and the edges cut off."""
    op, x = "batch_to_space", convert_to_tensor(input)
    blocks, crops = _block_numbers(op, x, block_shape, crops, "crops")
    count, (n, *space) = len(blocks), sizes_of(x)
    for b in blocks:
        n = _divided(op, n, b, "the batch size")
    x = _reshaped(x, [*blocks, n, *space])
    perm = [count] + [axis for i in range(count) for axis in (count + 1 + i, i)]
    x = call("transpose", (x,), {"perm": perm + list(range(2 * count + 1, x.ndim))})
    sizes = [d * b for d, b in zip(space, blocks, strict=False)]
    x = _reshaped(x, [n, *sizes, *space[count:]])
    if not any(e for pair in crops for e in pair):
        return x
    for size, (begin, end) in zip(sizes, crops, strict=True):
        if isinstance(size, int) and begin + end > size:
            _fail(op, f"crops {crops} are larger than the picture {sizes}")
    cut = tuple(slice(begin, -end if end else None) for begin, end in crops)
    return x[(slice(None), *cut)]


@export("tf.required_space_to_batch_paddings")
def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """Paddings that make sizes divisible by the block, and the crops that undo them."""
    sizes = convert_to_tensor(input_shape, dtype="int32")
    block = convert_to_tensor(block_shape, dtype="int32")
    if base_paddings is None:
        begin = end = call("zeros_like", (sizes,), {})
    else:
        begin, end = tidemark.unstack(convert_to_tensor(base_paddings, dtype="int32"), axis=1)
    more = call("floormod", (-(sizes + begin + end), block), {})
    zeros = call("zeros_like", (more,), {})
    paddings = call("stack", (begin, end + more), {"axis": 1})
    return paddings, call("stack", (zeros, more), {"axis": 1})
