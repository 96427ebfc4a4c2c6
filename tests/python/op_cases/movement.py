"""Ops that move, repeat or make elements, against NumPy's indexing."""

import numpy as np

from op_cases.drawing import Example, case, is_complex, is_float, is_int, narrow, np_dtype, wide


def zeros(shape, dtype):
    return np.full(shape, b"", object) if dtype == "string" else np.zeros(shape, np_dtype(dtype))


def index(d, values):
    return np.asarray(values, d.index_dtype())


@case("identity", "stop_gradient")
def same(d):
    x = d.values(d.shape())
    return Example([x], {}, lambda: x)


@case("ensure_shape")
def ensure_shape(d):
    x = d.values(d.shape())
    shape = [-1 if d.flag() else n for n in x.shape]
    return Example([x], {"shape": shape}, lambda: x)


@case("shape", "size", "rank")
def sizes(d):
    x, out = d.values(d.shape()), d.index_dtype()
    if d.op == "rank":
        return Example([x], {}, lambda: np.array(x.ndim, np.int32))
    value = x.shape if d.op == "shape" else x.size
    return Example([x], {"out_type": out}, lambda: np.array(value, out))


@case("zeros_like", "ones_like")
def like(d):
    x = d.values(d.shape())
    dtype = d.pick(None, "float32", "int8", "bool")
    if d.op == "ones_like" and d.dtype == "string":
        dtype = "int32"
    out = dtype or d.dtype

    def expected():
        return zeros(x.shape, out) if d.op == "zeros_like" else np.ones(x.shape, np_dtype(out))

    return Example([x], {"dtype": dtype}, expected)


@case("reshape")
def reshape(d):
    x = d.values(d.shape())
    shape = d.pick([x.size], [1, x.size], [x.size, 1, 1], list(x.shape))
    if x.size and d.flag() and shape:
        shape = [-1, *shape[1:]]
    return Example([x, index(d, shape)], {}, lambda: x.reshape(shape))


@case("expand_dims")
def expand_dims(d):
    x = d.values(d.shape())
    axis = d.int(-x.ndim - 1, x.ndim)
    return Example([x], {"axis": axis}, lambda: np.expand_dims(x, axis))


@case("squeeze")
def squeeze(d):
    shape = [1 if d.flag() else n for n in d.shape()]
    x = d.values(shape)
    ones = [a for a, n in enumerate(shape) if n == 1]
    axis = None if d.flag() else [a for a in ones if d.flag()]
    dropped = tuple(axis) if axis else tuple(ones)  # none named: all of them
    return Example([x], {"axis": axis}, lambda: np.squeeze(x, dropped))


@case("transpose")
def transpose(d):
    x = d.values(d.shape())
    perm = None if d.flag() else [int(a) for a in d.rng.permutation(x.ndim)]
    conjugate = d.flag()

    def expected():
        y = np.transpose(x, perm)
        return np.conj(y) if conjugate and is_complex(d.dtype) else y

    return Example([x], {"perm": perm, "conjugate": conjugate}, expected)


@case("reverse")
def reverse(d):
    x = d.values(d.shape())
    axes = d.axes(x.ndim) or []
    return Example([x], {"axis": axes}, lambda: np.flip(x, tuple(axes)))


@case("roll")
def roll(d):
    x = d.values(d.shape(1))
    axes = [d.axis(x.ndim) for _ in range(d.int(1, 2))]
    shift = [d.int(-9, 9) for _ in axes]
    return Example([x, index(d, shift)], {"axis": axes}, lambda: np.roll(x, shift, axes))


@case("reverse_sequence")
def reverse_sequence(d):
    x = d.values(d.shape(2, 4))
    seq, batch = (int(a) for a in d.rng.permutation(x.ndim)[:2])
    lengths = d.rng.integers(0, x.shape[seq] + 1, x.shape[batch])

    def expected():
        y = np.moveaxis(x, (batch, seq), (0, 1)).copy()
        for row, n in zip(y, lengths, strict=True):
            row[:n] = row[:n][::-1].copy()
        return np.moveaxis(y, (0, 1), (batch, seq))

    return Example([x, index(d, lengths)], {"seq_axis": seq, "batch_axis": batch}, expected)


@case("broadcast_to")
def broadcast_to(d):
    small, _ = d.broadcast(2)
    shape = np.broadcast_shapes(small, [d.pick(2, 3) if n == 1 else n for n in small])
    shape = (*([3] if d.flag() else []), *shape)
    x = d.values(small)
    return Example([x, index(d, shape)], {}, lambda: np.broadcast_to(x, shape))


@case("tile")
def tile(d):
    x = d.values(d.shape(high=3, total=60_001))
    times = [d.int(0 if not d.large else 2, 3) for _ in x.shape]
    return Example([x, index(d, times)], {}, lambda: np.tile(x, times))


@case("repeat")
def repeat(d):
    x = d.values(d.shape(1, total=60_001))
    axis = d.pick(None, d.axis(x.ndim))
    n = x.size if axis is None else x.shape[axis]
    times = d.int(0, 3) if d.flag() else d.rng.integers(0, 4, n)
    return Example([x, index(d, times)], {"axis": axis}, lambda: np.repeat(x, times, axis))


@case("concat")
def concat(d):
    shape = list(d.shape(1))
    axis = d.axis(len(shape))
    parts = []
    for _ in range(d.int(1, 4)):
        shape[axis] = d.dim() if not d.large else shape[axis]
        parts.append(d.values(shape))
    return Example(parts, {"axis": axis}, lambda: np.concatenate(parts, axis))


@case("stack")
def stack(d):
    shape = d.shape(high=3)
    parts = [d.values(shape) for _ in range(d.int(1, 4))]
    axis = d.int(-len(shape) - 1, len(shape))
    return Example(parts, {"axis": axis}, lambda: np.stack(parts, axis))


@case("unstack")
def unstack(d):
    x = d.values(d.shape(1, dims=1, total=9_001) if not d.large else (7, 101, 203))
    axis = d.axis(x.ndim) if not d.large else 0
    n = x.shape[axis]
    return Example([x], {"num": n, "axis": axis}, lambda: list(np.moveaxis(x, axis, 0)))


@case("split")
def split(d):
    x = d.values(d.shape(1))
    axis = d.axis(x.ndim)
    n = x.shape[axis]
    if d.flag():
        count = d.pick(*[k for k in (1, 2, 3, 7) if n % k == 0])
        return Example([x], {"num": count, "axis": axis}, lambda: np.split(x, count, axis))
    cuts = sorted(d.int(0, n) for _ in range(d.int(0, 3)))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, n], strict=True)]
    attrs = {"num": len(sizes), "axis": axis, "sizes": sizes}
    return Example([x], attrs, lambda: np.split(x, cuts, axis))


@case("slice")
def slice_(d):
    x = d.values(d.shape())
    begin = [d.int(0, n) for n in x.shape]
    size = [d.pick(-1, d.int(0, n - b)) for n, b in zip(x.shape, begin, strict=True)]
    cut = tuple(slice(b, None if s < 0 else b + s) for b, s in zip(begin, size, strict=True))
    kind = d.index_dtype()
    return Example([x, np.array(begin, kind), np.array(size, kind)], {}, lambda: x[cut])


def strided(d, shape):
    """begin, end, strides and masks, and the same as an index of NumPy's."""
    begin, end, strides, cut = [], [], [], []
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    kinds = [d.pick("range", "range", "one", "new") for _ in shape]
    at = 0
    for kind in kinds:
        bit, n = 1 << len(begin), shape[at]
        step = d.pick(1, 2, -1, -3) if kind == "range" else 1
        b, e = d.int(-n - 1, n + 1), d.int(-n - 1, n + 1)
        if kind == "one" and n == 0:
            kind = "range"
        if kind == "new":
            masks["new_axis"] |= bit
            cut.append(None)
        elif kind == "one":
            b = d.int(-n, n - 1)
            masks["shrink_axis"] |= bit
            cut.append(b)
        else:
            no_begin, no_end = d.flag(), d.flag()
            masks["begin"] |= bit * no_begin
            masks["end"] |= bit * no_end
            cut.append(slice(None if no_begin else b, None if no_end else e, step))
        begin, end, strides = [*begin, b], [*end, e], [*strides, step]
        at += kind != "new"
    if d.flag():
        masks["ellipsis"] |= 1 << len(begin)
        cut.append(Ellipsis)
        begin, end, strides = [*begin, 0], [*end, 0], [*strides, 1]
    kind = d.index_dtype()
    vectors = [np.array(v, kind) for v in (begin, end, strides)]
    return vectors, {f"{name}_mask": bits for name, bits in masks.items()}, tuple(cut)


@case("strided_slice")
def strided_slice(d):
    x = d.values(d.shape(1))
    vectors, masks, cut = strided(d, x.shape)
    return Example([x, *vectors], masks, lambda: np.asarray(x[cut], x.dtype))


@case("strided_slice_grad")
def strided_slice_grad(d):
    shape = d.shape(1)
    vectors, masks, cut = strided(d, shape)
    dy = d.finite(np.zeros(shape)[cut].shape)

    def expected():
        dx = zeros(shape, d.dtype)
        dx[cut] = dy
        return dx

    return Example([index(d, shape).astype(vectors[0].dtype), *vectors, dy], masks, expected)


@case("tensor_strided_slice_update")
def tensor_strided_slice_update(d):
    x = d.values(d.shape(1))
    vectors, masks, cut = strided(d, x.shape)
    value = d.finite(np.zeros(x.shape)[cut].shape)

    def expected():
        y = x.copy()
        y[cut] = value
        return y

    return Example([x, *vectors, value], masks, expected)


@case("pad")
def pad(d):
    x = d.values(d.shape(high=3, dims=1 if not d.large else 0))
    mode = d.pick("CONSTANT", "REFLECT", "SYMMETRIC")
    pads = []
    for n in x.shape:
        most = {"CONSTANT": 4, "REFLECT": min(n - 1, 4), "SYMMETRIC": min(n, 4)}[mode]
        pads.append([d.int(0, most), d.int(0, most)])
    fill = d.finite(())
    table = np.array(pads, d.index_dtype()).reshape(-1, 2)

    def expected():
        if x.ndim == 0:
            return x
        if mode == "CONSTANT":
            return np.pad(x, pads, constant_values=fill.item() if x.dtype == object else fill)
        return np.pad(x, pads, mode.lower())

    return Example([x, table, fill], {"mode": mode}, expected)


@case("mirror_pad_grad")
def mirror_pad_grad(d):
    """The sums of what each element was copied to."""
    mode = d.pick("REFLECT", "SYMMETRIC")
    shape = d.shape(1, 3, dims=2)
    pads = []
    for n in shape:
        most = min(n - (mode == "REFLECT"), 3)
        pads.append([d.int(0, most), d.int(0, most)])
    origin = np.pad(np.arange(int(np.prod(shape))).reshape(shape), pads, mode.lower())
    dy = d.finite(origin.shape)

    def expected():
        dx = np.zeros(int(np.prod(shape)), wide(dy).dtype)
        np.add.at(dx, origin.reshape(-1), wide(dy).reshape(-1))
        return narrow(dx.reshape(shape), d.dtype)

    table = np.array(pads, d.index_dtype())
    return Example([dy, table], {"mode": mode}, expected, ulps=64, atol=64)


@case("fill")
def fill(d):
    shape, value = d.shape(), d.values(())
    return Example([index(d, shape), value], {}, lambda: np.full(shape, value, value.dtype))


@case("range")
def range_(d):
    n = d.dim() if not d.large else 70_001
    if d.dtype in ("int8", "uint8") and d.large:
        n = 60
    if d.dtype in ("float16", "bfloat16"):
        n = min(n, 100)  # steps that these can count
    delta = 1 if d.large or d.dtype.startswith("u") else d.pick(1, 2, -1)
    start = 0 if d.dtype.startswith("u") else d.int(-3, 3)
    parts = [narrow(v, d.dtype) for v in (start, start + n * delta, delta)]
    if d.dtype == "int8" and n * abs(delta) > 100:
        n = 0
        parts[1] = parts[0]
    if d.dtype in ("int16", "uint16") and d.large:
        n = 20_001
        parts[1] = narrow(start + n * delta, d.dtype)
    return Example(parts, {}, lambda: narrow(start + delta * np.arange(n), d.dtype))


@case("linspace")
def linspace(d):
    shape = d.shape(high=2) if not d.large else d.pick((), (7,))
    start, stop = d.finite(shape), d.finite(shape)
    num = d.int(1, 9) if not d.large else 50_001
    axis = d.int(-len(shape) - 1, len(shape))
    return Example(
        [start, stop, index(d, num)],
        {"axis": axis},
        lambda: narrow(np.linspace(wide(start), wide(stop), num, axis=axis), d.dtype),
        ulps=8,
        atol=8,
    )


@case("one_hot")
def one_hot(d):
    shape = d.shape(high=3, total=9_001)
    depth = d.int(0, 9)
    at = d.rng.integers(0 if d.op.startswith("u") else -1, depth + 2, shape).astype(
        d.pick("int32", "int64", "uint8", "int8")
    )
    axis = d.int(-1, len(shape))
    on, off = d.finite((), low=1, high=3), d.finite((), low=0, high=0)

    def expected():
        where = at[..., None].astype(np.int64) == np.arange(depth)
        out = np.where(where, on, off)
        return np.moveaxis(out, -1, axis) if axis >= 0 else out

    return Example([at, index(d, depth), on, off], {"axis": axis}, expected)


@case("bitcast")
def bitcast(d):
    size = np_dtype(d.dtype).itemsize
    same_size = {
        1: ("int8", "uint8", "bool") if d.dtype == "bool" else ("int8", "uint8"),
        2: ("int16", "uint16", "float16", "bfloat16"),
        4: ("int32", "uint32", "float32"),
        8: ("int64", "uint64", "float64"),
        16: ("complex128",),
    }[size]
    x = d.finite(d.shape())
    to = d.pick(*same_size)
    return Example([x], {"type": to}, lambda: x.view(np_dtype(to)))


@case("array_write", "array_read", "array_cut", "array_resize")
def arrays(d):
    rows = d.int(1, 5) if not d.large else 301
    rest = d.shape(high=2) if not d.large else (511,)
    x = d.values((rows, *rest))
    at = d.int(0, rows - 1)
    if d.op == "array_read":
        return Example([x, index(d, at)], {}, lambda: x[at])
    if d.op == "array_write":
        value, longer = d.values(rest), d.flag()
        at = at + longer * d.int(0, 3)

        def expected():
            y = zeros((max(rows, at + 1), *rest), d.dtype)
            y[:rows] = x
            y[at] = value
            return y

        return Example([x, index(d, at), value], {"dynamic_size": longer}, expected)
    if d.op == "array_cut":
        keep = d.int(1, rows)

        def cut():
            y = x[:keep].copy()
            y[at : at + 1] = 0
            return y, x[at]

        return Example([x, index(d, at)], {"rows": keep}, cut)
    count = d.int(-1, rows + 3)

    def resized():
        if count < 0:
            return x
        y = zeros((count, *rest), d.dtype)
        y[: min(rows, count)] = x[:count]
        return y

    return Example([x, index(d, count)], {}, resized)


@case("boolean_mask")
def boolean_mask(d):
    x = d.values(d.shape(1))
    axis = d.pick(None, d.int(0, x.ndim - 1))
    first = axis or 0
    dims = d.int(1, x.ndim - first)
    mask = d.values(x.shape[first : first + dims], "bool")
    cut = (slice(None),) * first + (mask,)
    return Example([x, mask], {"axis": axis}, lambda: x[cut])


@case("tensor_summary")
def tensor_summary(d):
    """Small tensors are whole in it, as NumPy prints them."""
    x = d.values(d.pick((), (1,), (3,), (2, 3)), low=0, high=9, odd=False)
    if is_float(d.dtype) or is_complex(d.dtype):
        x = narrow(np.floor(wide(x).real), d.dtype)

    def check(outputs):
        text = outputs[0].item().decode()
        numbers = text.replace("[", " ").replace("]", " ").split()
        assert len(numbers) == x.size
        assert text.count("[") == text.count("]")
        if is_int(d.dtype):
            np.testing.assert_array_equal([int(n) for n in numbers], x.reshape(-1))

    return Example([x], {"summarize": -1}, check=check)
