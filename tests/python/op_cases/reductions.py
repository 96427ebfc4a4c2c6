"""Reductions, scans, sorting and searching against NumPy."""

import numpy as np

from op_cases.drawing import Example, case, is_complex, is_float, is_int, narrow, np_dtype, wide


def over(axes, rank):
    return tuple(range(rank)) if axes is None else tuple(a % rank for a in axes)


def log_sum_exp(x, axis, keepdims):
    top = np.max(x, axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    total = np.log(np.sum(np.exp(x - top), axis, keepdims=True)) + top
    return total if keepdims else np.squeeze(total, axis)


def mean_of(x, axis, keepdims):
    count = int(np.prod([x.shape[a] for a in axis]))
    total = np.sum(x, axis, keepdims=keepdims)
    if x.dtype.kind in "iu":
        return np.sign(total) * (np.abs(total) // count) if count else total
    return total / count if count else np.full_like(total, np.nan)


def greatest(function, lowest):
    return lambda x, axis, keepdims: function(x, axis, keepdims=keepdims, initial=lowest(x.dtype))


def lowest(dtype):
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def highest(dtype):
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


def spread(x, axis, keepdims):
    return np.var(x, axis, keepdims=keepdims).real


REDUCE = {
    "sum": lambda x, a, k: np.sum(x, a, keepdims=k, dtype=x.dtype),
    "prod": lambda x, a, k: np.prod(x, a, keepdims=k, dtype=x.dtype),
    "mean": mean_of,
    "max": greatest(np.max, lowest),
    "min": greatest(np.min, highest),
    "any": lambda x, a, k: np.any(x, a, keepdims=k),
    "all": lambda x, a, k: np.all(x, a, keepdims=k),
    "logsumexp": log_sum_exp,
    "variance": spread,
    "std": lambda x, a, k: np.sqrt(spread(x, a, k)),
    "euclidean_norm": lambda x, a, k: np.sqrt(
        np.sum(np.square(np.abs(x)), a, keepdims=k, dtype=np.abs(x).dtype)
    ),
}


@case(*REDUCE)
def reduce(d):
    shape = d.shape()
    near_one = d.op == "prod"
    x = d.values(
        shape,
        low=1 if near_one and is_int(d.dtype) else 0.999 if near_one else -3,
        high=1.001 if near_one else 3,
        odd=False if d.op in ("std", "variance") else None,
    )
    if near_one and is_complex(d.dtype):
        x = narrow(x / np.abs(x), d.dtype)
    axes, keepdims = d.axes(len(shape)), d.flag()
    axis = over(axes, len(shape))
    count = max(1, int(np.prod([shape[a] for a in axis])))
    real = {"complex64": "float32", "complex128": "float64"}.get(d.dtype, d.dtype)
    # The deviations of complex numbers are real; their norm stays complex.
    out = real if d.op in ("std", "variance") else d.dtype

    def expected():
        w = wide(x)
        if d.op == "mean" and is_int(d.dtype):
            # The sum wraps as the dtype does.
            total = narrow(np.sum(w.astype(np.int64), axis, keepdims=keepdims), d.dtype)
            n = int(np.prod([shape[a] for a in axis]))
            return narrow(np.trunc(total.astype(np.int64) / n) if n else total, d.dtype)
        return narrow(REDUCE[d.op](w, axis, keepdims), out)

    example = Example([x], {"axis": axes, "keepdims": keepdims}, expected)
    example.ulps = 16 + 2 * np.sqrt(count)
    example.atol = 16 + 4 * np.sqrt(count)
    return example


@case("argmax", "argmin")
def arg(d):
    shape = d.shape(1, dims=1)
    x = d.finite(shape)
    axis = d.pick(None, d.axis(len(shape)))
    out = d.pick("int32", "int64", "int16", "uint16") if d.op == "argmax" else d.index_dtype()
    if d.large and out in ("int16", "uint16"):
        out = "int64"
    function = np.argmax if d.op == "argmax" else np.argmin
    return Example(
        [x],
        {"axis": axis, "output_type": out},
        lambda: function(wide(x), 0 if axis is None else axis).astype(out),
    )


@case("cumsum", "cumprod")
def scan(d):
    shape = d.shape(1)
    x = d.finite(shape, low=0.99, high=1.01) if d.op == "cumprod" else d.finite(shape)
    axis, exclusive, reverse = d.axis(len(shape)), d.flag(), d.flag()
    function, start = (np.cumsum, 0) if d.op == "cumsum" else (np.cumprod, 1)

    def expected():
        w = np.moveaxis(wide(x), axis, 0)
        w = w[::-1] if reverse else w
        y = function(w, 0, dtype=w.dtype)
        if exclusive:
            y = np.concatenate([np.full_like(y[:1], start), y[:-1]])
        return narrow(np.moveaxis(y[::-1] if reverse else y, 0, axis), d.dtype)

    attrs = {"axis": axis, "exclusive": exclusive, "reverse": reverse}
    n = shape[axis]
    return Example([x], attrs, expected, ulps=8 + 2 * n, atol=8 + 4 * n)


@case("cumulative_logsumexp")
def cumulative_logsumexp(d):
    shape = d.shape(1)
    x = d.finite(shape)
    axis, exclusive, reverse = d.axis(len(shape)), d.flag(), d.flag()

    def expected():
        w = np.moveaxis(wide(x), axis, 0)
        w = w[::-1] if reverse else w
        y = np.logaddexp.accumulate(w, 0)
        if exclusive:
            y = np.concatenate([np.full_like(y[:1], -np.inf), y[:-1]])
        return narrow(np.moveaxis(y[::-1] if reverse else y, 0, axis), d.dtype)

    attrs = {"axis": axis, "exclusive": exclusive, "reverse": reverse}
    return Example([x], attrs, expected, ulps=16, atol=16 + shape[axis])


@case("sort", "argsort")
def sort(d):
    shape = d.shape(1)
    x = d.finite(shape)
    axis, direction = d.axis(len(shape)), d.pick("ASCENDING", "DESCENDING")
    down = direction == "DESCENDING"
    attrs = {"axis": axis, "direction": direction}
    if d.op == "argsort":
        attrs["stable"] = d.flag()

    def ordered():
        y = np.sort(wide(x), axis)
        return narrow(np.flip(y, axis) if down else y, d.dtype)

    def check(outputs):
        assert outputs[0].dtype == np.int32
        np.testing.assert_array_equal(np.take_along_axis(x, outputs[0], axis), ordered())
        if attrs["stable"]:
            key = -wide(x).astype(float) if down else wide(x)
            np.testing.assert_array_equal(outputs[0], np.argsort(key, axis, kind="stable"))

    return Example(
        [x], attrs, ordered if d.op == "sort" else None, check if d.op == "argsort" else None
    )


@case("top_k")
def top_k(d):
    shape = d.shape(1, dims=1)
    x = d.finite(shape)
    k = d.int(0, min(shape[-1], 40))
    index = d.pick("int16", "int32", "int64")
    if shape[-1] > 30_000:
        index = "int32"

    def expected():
        order = np.argsort(-wide(x).astype(float), -1, kind="stable")[..., :k]
        return np.take_along_axis(x, order, -1), order.astype(index)

    return Example(
        [x, np.array(k, d.index_dtype())], {"sorted": True, "index_type": index}, expected
    )


@case("in_top_k")
def in_top_k(d):
    rows, classes = d.dim(), d.dim(1)
    if d.large:
        rows = 3000
    scores = d.values((rows, classes), "float32")
    at = d.rng.integers(-1, classes + 1, rows)
    k = d.int(1, classes + 1)

    def expected():
        out = np.zeros(rows, bool)
        for i, t in enumerate(at):
            if 0 <= t < classes and np.all(np.isfinite(scores[i])):
                out[i] = np.sum(scores[i] > scores[i][t]) < k
            elif 0 <= t < classes and np.isfinite(scores[i][t]):
                out[i] = not np.isnan(scores[i]).any() and np.sum(scores[i] > scores[i][t]) < k
        return out

    if not d.large:
        scores = np.nan_to_num(scores, nan=0.5, posinf=2, neginf=-2)
    return Example([at.astype(d.dtype), scores], {"k": k}, expected)


@case("searchsorted")
def searchsorted(d):
    rows = d.shape(0, 2) if not d.large else (7,)
    n, m = (d.dim(), d.dim()) if not d.large else (301, 9001)
    table = np.sort(d.finite((*rows, n)), -1)
    wanted = d.finite((*rows, m))
    side, out = d.pick("left", "right"), d.index_dtype()

    def expected():
        result = np.empty(wanted.shape, out)
        for at in np.ndindex(*rows):
            result[at] = np.searchsorted(wide(table[at]), wide(wanted[at]), side)
        return result

    return Example([table, wanted], {"side": side, "out_type": out}, expected)


@case("bincount")
def bincount(d):
    n = d.pick(0, 1, 7, 100) if not d.large else 90_001
    size = d.int(0, 12)
    if d.flag() and not d.large:
        values = d.rng.integers(0, 14, (d.int(0, 3), n))
    else:
        values = d.rng.integers(0, 14, n)
    binary = d.flag()
    weights = d.finite(values.shape if not binary and d.flag() else (0,), low=0, high=3)

    def expected():
        rows = values.reshape(-1, values.shape[-1]) if values.ndim == 2 else values[None]
        load = np.broadcast_to(1, values.shape) if weights.size == 0 else wide(weights)
        load = load.reshape(rows.shape)
        out = np.zeros((rows.shape[0], size), wide(weights).dtype if weights.size else float)
        for r in range(rows.shape[0]):
            inside = rows[r] < size
            if binary:
                out[r, rows[r][inside]] = 1
            else:
                np.add.at(out[r], rows[r][inside], load[r][inside])
        return narrow(out.reshape((*values.shape[:-1], size)), d.dtype)

    return Example(
        [values.astype(d.index_dtype()), np.array(size, d.index_dtype()), weights],
        {"binary_output": binary},
        expected,
        ulps=4 + n if is_float(d.dtype) else 0,
    )


@case("unique", "unique_with_counts")
def unique(d):
    n = d.pick(0, 1, 5, 40) if not d.large else 50_001
    x, out = d.finite(n), d.index_dtype()

    def expected():
        seen, index, counts = {}, [], []
        for value in x.tolist():
            if value not in seen:
                seen[value] = len(seen)
                counts.append(0)
            index.append(seen[value])
            counts[seen[value]] += 1
        first = np.unique(np.array(index, int), return_index=True)[1]
        result = [x[first], np.array(index, out)]
        return result + [np.array(counts, out)] if d.op == "unique_with_counts" else result

    return Example([x], {"out_idx": out}, expected)


@case("nonzero")
def nonzero(d):
    x = d.values(d.shape())
    return Example([x], {}, lambda: np.argwhere(x).astype(np.int64).reshape(np.sum(x), x.ndim))


SEGMENT = {"sum": np.sum, "prod": np.prod, "mean": None, "max": np.max, "min": np.min}


def reduce_segment(kind, rows, dtype):
    w = wide(rows)
    if kind == "mean":
        if is_int(dtype):
            total = narrow(np.sum(w.astype(np.int64), 0), dtype)
            return np.trunc(total.astype(np.int64) / len(rows))
        return np.sum(w, 0) / len(rows)
    if kind in ("sum", "prod"):
        return SEGMENT[kind](w, 0, dtype=w.dtype)
    return SEGMENT[kind](w, 0)


@case(
    *[f"segment_{k}" for k in SEGMENT],
    "unsorted_segment_sum",
    "unsorted_segment_prod",
    "unsorted_segment_max",
    "unsorted_segment_min",
)
def segments(d):
    kind, unsorted = d.op.split("_")[-1], d.op.startswith("unsorted")
    rest = d.shape(0, 2) if not d.large else (d.pick(7, 63),)
    rows = d.pick(0, 1, 5, 30) if not d.large else 3001
    low, high = (0.9, 1.1) if kind == "prod" else (-3, 3)
    data = d.finite((rows, *rest), low=1 if kind == "prod" and is_int(d.dtype) else low, high=high)
    if unsorted:
        count = d.int(0, 8)
        ids = d.rng.integers(-1, count, rows) if count else np.full(rows, -1)
        start = {"sum": 0, "prod": 1}.get(kind)
        if start is None:
            info = np.iinfo(d.dtype) if is_int(d.dtype) else None
            bound = info if info else None
            if kind == "max":
                start = bound.min if bound else lowest_float(d.dtype)
            else:
                start = bound.max if bound else -lowest_float(d.dtype)
    else:
        ids = np.sort(d.rng.integers(0, 9, rows))
        count = int(ids[-1]) + 1 if rows else 0
        start = 1 if kind == "prod" else 0

    def expected():
        out = np.empty((count, *rest), np_dtype(d.dtype))
        for s in range(count):
            mine = data[ids == s]
            value = reduce_segment(kind, mine, d.dtype) if len(mine) else start
            out[s] = narrow(value, d.dtype)
        return out

    inputs = [data, ids.astype(d.index_dtype())]
    if unsorted:
        inputs.append(np.array(count, d.index_dtype()))
    wide_enough = 4 + rows
    return Example(inputs, {}, expected, ulps=wide_enough, atol=wide_enough)


def lowest_float(dtype):
    if dtype == "bfloat16":
        return float(np.array(0xFF7F, np.uint16).view(np_dtype("bfloat16")).astype(float))
    return float(np.finfo(dtype).min)


@case("invert_permutation")
def invert_permutation(d):
    p = d.rng.permutation(d.dim() if not d.large else 20_001).astype(d.dtype)
    return Example([p], {}, lambda: np.argsort(p).astype(d.dtype))


@case("softmax", "log_softmax")
def softmax(d):
    shape = d.shape(1)
    x, axis = d.finite(shape, low=-9, high=9), d.pick(None, d.axis(len(shape)))

    def expected():
        w = wide(x)
        at = -1 if axis is None else axis
        log = w - log_sum_exp(w, (at % w.ndim,), True)
        return narrow(np.exp(log) if d.op == "softmax" else log, d.dtype)

    return Example([x], {"axis": axis}, expected, ulps=64, atol=32)


@case("softmax_grad", "log_softmax_grad")
def softmax_grad(d):
    shape = d.shape(1)
    x, dy = d.finite(shape), d.finite(shape)
    axis = d.pick(None, d.axis(len(shape)))
    at = -1 if axis is None else axis
    log = wide(x) - log_sum_exp(wide(x), (at % len(shape),), True)
    y = narrow(np.exp(log) if d.op == "softmax_grad" else log, d.dtype)

    def expected():
        a, b = wide(y), wide(dy)
        if d.op == "softmax_grad":
            return narrow((b - (a * b).sum(at, keepdims=True)) * a, d.dtype)
        return narrow(b - np.exp(a) * b.sum(at, keepdims=True), d.dtype)

    n = shape[at]
    return Example([y, dy], {"axis": axis}, expected, ulps=64 + n, atol=64 + n)


@case("matmul")
def matmul(d):
    batch = d.broadcast(2, 2) if not d.large else [(3,), ()]
    m, k, n = (d.dim(), d.dim(), d.dim()) if not d.large else (67, 129, 131)
    ta, tb = d.pick("", "transpose", "adjoint"), d.pick("", "transpose", "adjoint")
    a = d.finite((*batch[0], *((k, m) if ta else (m, k))))
    b = d.finite((*batch[1], *((n, k) if tb else (k, n))))

    def turned(x, how):
        x = wide(x)
        x = np.swapaxes(x, -1, -2) if how else x
        return np.conj(x) if how == "adjoint" and is_complex(d.dtype) else x

    attrs = {f"{how}_{name}": True for how, name in ((ta, "a"), (tb, "b")) if how}
    return Example(
        [a, b],
        attrs,
        lambda: narrow(turned(a, ta) @ turned(b, tb), d.dtype),
        ulps=16 + 2 * k,
        atol=16 + 4 * k,
    )
