"""Ops of ours that are several nodes of TensorFlow's, written by hand."""

from __future__ import annotations

from tidemark import dtypes

WRITERS = {}


def _writes(*kinds):
    def register(function):
        for kind in kinds:
            WRITERS[kind] = function
        return function

    return register


class _Pieces:
    """Nodes within the scope of a label; each method gives the name of what it made."""

    def __init__(self, writer, label):
        self._writer, self._label = writer, label

    def __call__(self, op, inputs, types, attrs=None, index=0):
        name = self._writer.fresh(f"{self._label}/{op}")
        self._writer.add(name, op, inputs, attrs, types)
        return f"{name}:{index}" if index else name

    def number(self, value, dtype=dtypes.int32):
        return self._writer.constant(f"{self._label}/Const", value, dtype)

    def sizes(self, x, dtype, out=dtypes.int32):
        return self("Shape", [x], [dtype], {"out_type": out})

    def cut(self, x, begin, size, dtype, at=dtypes.int32):
        """A slice of a vector."""
        ends = [self.number([n], at) if isinstance(n, int) else n for n in (begin, size)]
        return self("Slice", [x, *ends], [dtype, at, at])

    def size_at(self, x, axis, dtype, out=dtypes.int32):
        """One size of x, as a vector of one number."""
        return self.cut(self.sizes(x, dtype, out), axis, 1, out)

    def joined(self, parts, dtype):
        """Vectors one after the other."""
        return self("ConcatV2", [parts, self.number(0)], [[dtype] * len(parts), dtypes.int32])

    def reshaped(self, x, shape, dtype, of=dtypes.int32):
        to = shape if isinstance(shape, str) else self.number(shape)
        return self("Reshape", [x, to], [dtype, of])

    def two(self, op, x, y, dtype=dtypes.int32):
        return self(op, [x, y], [dtype, dtype])

    def cast(self, x, dtype, to):
        return x if dtype == to else self("Cast", [x], [dtype], {"DstT": to})


def _given(writer, node, label):
    names = [writer.reference(t, f"{label}/input_{at}") for at, t in enumerate(node.inputs)]
    return _Pieces(writer, label), names, [t.dtype for t in node.inputs]


def _gives(writer, node, label, reference, index=0):
    """The output is this, under the node's own name where it is the first."""
    name = label if index == 0 else writer.fresh(f"{label}/output_{index}")
    writer.add(name, "Identity", [reference], None, [node.output(index).dtype])
    writer.give(node, index, name)
    return True


# --- arrays: one tensor, whose elements have no size while nobody knows theirs --------------------


def _fitted(make, array, dtype, rows, element):
    """The array with so many rows of elements of a shape: zeros where there were none. ``rows``,
    ``element``: vectors."""
    nothing = make.number(0)
    have = make.size_at(array, 0, dtype)
    known = make.two("Maximum", have, make.number([1]))
    width = make.two("FloorDiv", make("Size", [array], [dtype]), known)
    axes = [dtypes.int32, dtypes.int32]
    wanted = make("Prod", [element, nothing], axes, {"keep_dims": True})
    flat = make.reshaped(array, make.joined([have, width], dtypes.int32), dtype)
    zero = make.number([0])
    lacking = [make.two("Maximum", make.two("Sub", *pair), zero)
               for pair in ((rows, have), (wanted, width))]  # fmt: skip
    pads = make.joined([zero, lacking[0], zero, lacking[1]], dtypes.int32)
    pads = make.reshaped(pads, [2, 2], dtypes.int32)
    empty = make.number(b"" if dtype == dtypes.string else 0, dtype)
    padded = make("PadV2", [flat, pads, empty], [dtype, dtypes.int32, dtype])
    cut = make("Slice", [padded, make.number([0, 0]), make.joined([rows, wanted], dtypes.int32)],
               [dtype, *axes])  # fmt: skip
    return make.reshaped(cut, make.joined([rows, element], dtypes.int32), dtype)


def _one(make, index, dtype):
    """An index as a vector of int32."""
    return make.reshaped(make.cast(index, dtype, dtypes.int32), [1], dtypes.int32)


@_writes("array_write")
def _array_write(writer, node, label):
    make, (array, index, value), (dtype, of_index, _) = _given(writer, node, label)
    at = _one(make, index, of_index)
    rows = make.size_at(array, 0, dtype)
    if node.attrs["dynamic_size"]:
        rows = make.two("Maximum", rows, make.two("AddV2", at, make.number([1])))
    element = make.sizes(value, dtype)
    fitted = _fitted(make, array, dtype, rows, element)
    updates = make("ExpandDims", [value, make.number(0)], [dtype, dtypes.int32])
    places = make.reshaped(at, [1, 1], dtypes.int32)
    made = make("TensorScatterUpdate", [fitted, places, updates], [dtype, dtypes.int32, dtype])
    return _gives(writer, node, label, made)


def _element_of(make, node, array, dtype):
    """The sizes of an element: as announced, or those of the array's."""
    announced = node.attrs["element_shape"]
    if announced is not None and all(size >= 0 for size in announced):
        return make.number(list(announced), dtypes.int32)
    return make.cut(make.sizes(array, dtype), 1, -1, dtypes.int32)


@_writes("array_read")
def _array_read(writer, node, label):
    make, (array, index), (dtype, of_index) = _given(writer, node, label)
    element = _element_of(make, node, array, dtype)
    fitted = _fitted(make, array, dtype, make.size_at(array, 0, dtype), element)
    at = make.reshaped(make.cast(index, of_index, dtypes.int32), [], dtypes.int32)
    made = make("GatherV2", [fitted, at, make.number(0)], [dtype, dtypes.int32, dtypes.int32])
    return _gives(writer, node, label, made)


@_writes("array_resize")
def _array_resize(writer, node, label):
    make, (array, rows), (dtype, of_rows) = _given(writer, node, label)
    asked = _one(make, rows, of_rows)
    have = make.size_at(array, 0, dtype)
    is_all = make("Less", [asked, make.number([0])], [dtypes.int32] * 2)
    wanted = make("SelectV2", [is_all, have, asked], [dtypes.bool, dtypes.int32, dtypes.int32])
    element = _element_of(make, node, array, dtype)
    return _gives(writer, node, label, _fitted(make, array, dtype, wanted, element))


# --- places in sorted and repeated values ---------------------------------------------------------


def _bound(make, op, numbers, values, dtype, out=dtypes.int64):
    """Where each value belongs among sorted numbers; all of them vectors."""
    rows = [make.reshaped(x, [1, -1], dtype) for x in (numbers, values)]
    return make.reshaped(make(op, rows, [dtype, dtype], {"out_type": out}), [-1], out)


@_writes("searchsorted")
def _searchsorted(writer, node, label):
    make, (numbers, values), (dtype, _) = _given(writer, node, label)
    op = "LowerBound" if node.attrs["side"] == "left" else "UpperBound"
    out = node.attrs["out_type"]
    rows = []
    for x in (numbers, values):
        last = make.cut(make.sizes(x, dtype), node.inputs[0].shape.rank - 1, 1, dtypes.int32)
        rows.append(make.reshaped(x, make.joined([make.number([-1]), last], dtypes.int32), dtype))
    found = make(op, rows, [dtype, dtype], {"out_type": out})
    return _gives(writer, node, label, make.reshaped(found, make.sizes(values, dtype), out))


@_writes("repeat")
def _repeat(writer, node, label):
    make, (x, repeats), (dtype, of_repeats) = _given(writer, node, label)
    axis, rank = node.attrs["axis"], node.inputs[0].shape.rank
    if axis is None:
        x, axis, rank = make.reshaped(x, [-1], dtype), 0, 1
    if rank is None:
        return False
    axis %= rank
    counts = make.reshaped(make.cast(repeats, of_repeats, dtypes.int32), [-1], dtypes.int32)
    count = make.size_at(x, axis, dtype)
    counts = make("BroadcastTo", [counts, count], [dtypes.int32] * 2)
    ends = make("Cumsum", [counts, make.number(0)], [dtypes.int32] * 2)
    total = make("Sum", [counts, make.number(0)], [dtypes.int32] * 2)
    places = make("Range", [make.number(0), total, make.number(1)], [dtypes.int32] * 3)
    taken = _bound(make, "UpperBound", ends, places, dtypes.int32, dtypes.int32)
    made = make("GatherV2", [x, taken, make.number(axis)], [dtype, dtypes.int32, dtypes.int32])
    return _gives(writer, node, label, made)


@_writes("sort", "argsort")
def _sort(writer, node, label):
    """Of numbers that can be negated without a change of order; along the last axis."""
    tensor, rank = node.inputs[0], node.inputs[0].shape.rank
    dtype = tensor.dtype
    is_up = node.attrs["direction"] == "ASCENDING"
    if rank is None or node.attrs["axis"] % rank != rank - 1 or (is_up and not dtype.is_floating):
        return False
    make, (x,), _ = _given(writer, node, label)
    given = make("Neg", [x], [dtype]) if is_up else x
    count = make.reshaped(make.size_at(x, rank - 1, dtype), [], dtypes.int32)
    top = make("TopKV2", [given, count], [dtype, dtypes.int32])
    if node.kind == "argsort":
        return _gives(writer, node, label, f"{top}:1")
    return _gives(writer, node, label, make("Neg", [top], [dtype]) if is_up else top)


# --- texts ----------------------------------------------------------------------------------------


@_writes("string_split")
def _string_split(writer, node, label):
    make, (texts,), _ = _given(writer, node, label)
    flat = make.reshaped(texts, [-1], dtypes.string)
    sep = make.number(node.attrs["sep"].encode(), dtypes.string)
    split = make("StringSplitV2", [flat, sep], [dtypes.string] * 2,
                 {"maxsplit": node.attrs["maxsplit"]})  # fmt: skip
    starts = [make.number([0, 0], dtypes.int64), make.number([-1, 1], dtypes.int64)]
    rows = make("Slice", [split, *starts], [dtypes.int64] * 3)
    count = make.two("AddV2", make("Size", [flat], [dtypes.string]), make.number(1))
    count = make.cast(count, dtypes.int32, dtypes.int64)
    ends = [make.number(0, dtypes.int64), count, make.number(1, dtypes.int64)]
    places = make("Range", ends, [dtypes.int64] * 3)
    splits = _bound(make, "LowerBound", rows, places, dtypes.int64)
    _gives(writer, node, label, f"{split}:1")
    return _gives(writer, node, label, splits, 1)


@_writes("unicode_decode")
def _unicode_decode(writer, node, label):
    make, (texts,), _ = _given(writer, node, label)
    flat = make.reshaped(texts, [-1], dtypes.string)
    found = make("UnicodeDecodeWithOffsets", [flat], [dtypes.string], dict(node.attrs))
    for index, theirs in enumerate((1, 2, 0)):
        _gives(writer, node, label, f"{found}:{theirs}" if theirs else found, index)
    return True


# --- pictures -------------------------------------------------------------------------------------

_RESIZES = {"bilinear": "ResizeBilinear", "nearest": "ResizeNearestNeighbor",
            "bicubic": "ResizeBicubic"}  # fmt: skip


@_writes("resize_images")
def _resize(writer, node, label):
    make, (images, size), (dtype, of_size) = _given(writer, node, label)
    op, out = _RESIZES.get(node.attrs["method"]), node.output(0).dtype
    if op is None or node.attrs["antialias"]:
        return False
    size = make.cast(size, of_size, dtypes.int32)
    made = make(op, [images, size], [dtype, dtypes.int32], {"half_pixel_centers": True})
    made_of = dtype if op == "ResizeNearestNeighbor" else dtypes.float32
    return _gives(writer, node, label, make.cast(made, made_of, out))


__all__ = ["WRITERS"]
