"""Convolution, pooling, normalisation, attention and losses, and the gradient op of each."""

import itertools

import numpy as np

from op_cases.drawing import Example, case, narrow, np_dtype, wide
from op_cases.reductions import log_sum_exp


class Windows:
    """Windows over images of one to three spatial dimensions, drawn."""

    def __init__(self, d, kernel_of_images=None):
        self.spatial = n = d.int(1, 3) if not d.large else 2
        self.batch = d.pick(0, 1, 2) if not d.large else 5
        self.size = [d.int(3, 6) for _ in range(n)] if not d.large else [31, 29]
        self.kernel = [d.int(1, 3) for _ in range(n)]
        self.stride = [d.int(1, 2) for _ in range(n)]
        self.dilation = [1] * n
        if max(self.stride) == 1 and d.flag():
            self.dilation = [d.int(1, 2) for _ in range(n)]
        self.padding = d.pick("VALID", "SAME", "EXPLICIT")
        reach = [(k - 1) * r + 1 for k, r in zip(self.kernel, self.dilation, strict=True)]
        self.pads = [[0, 0] for _ in range(n)]
        if any(r > s for r, s in zip(reach, self.size, strict=True)):
            self.padding = "SAME"
        if self.padding == "EXPLICIT":
            self.pads = [[d.int(0, k - 1), d.int(0, k - 1)] for k in self.kernel]
        elif self.padding == "SAME":
            for i in range(n):
                out = -(-self.size[i] // self.stride[i])
                total = max((out - 1) * self.stride[i] + reach[i] - self.size[i], 0)
                self.pads[i] = [total // 2, total - total // 2]
        self.out = [
            (s + sum(p) - r) // t + 1
            for s, p, r, t in zip(self.size, self.pads, reach, self.stride, strict=True)
        ]

    def attrs(self, ksize=False):
        result = {"strides": self.stride, "padding": self.padding, "dilations": self.dilation}
        if self.padding == "EXPLICIT":
            result["explicit_paddings"] = [p for pair in self.pads for p in pair]
        if ksize:
            result["ksize"] = self.kernel
        return result

    def padded(self, x, fill=0):
        return np.pad(x, [(0, 0), *self.pads, (0, 0)], constant_values=fill)

    def cuts(self):
        """For each place in the window: that place, and an index of what lies there in all
        windows."""
        for place in itertools.product(*[range(k) for k in self.kernel]):
            cut = [slice(None)]
            for i, p in enumerate(place):
                begin = p * self.dilation[i]
                cut.append(
                    slice(begin, begin + (self.out[i] - 1) * self.stride[i] + 1, self.stride[i])
                )
            yield place, tuple(cut)

    def inside(self, padded):
        cut = [slice(a, padded.shape[i + 1] - b) for i, (a, b) in enumerate(self.pads)]
        return padded[(slice(None), *cut)]


def grouped(x, groups):
    return x.reshape(*x.shape[:-1], groups, x.shape[-1] // groups)


def convolve(w, x, filters, groups):
    padded = w.padded(x)
    out = 0
    for place, cut in w.cuts():
        parts = grouped(padded[cut], groups)
        weights = filters[place].reshape(filters.shape[-2], groups, -1)
        out = out + np.einsum("...gi,igo->...go", parts, weights)
    return out.reshape(*out.shape[:-2], out.shape[-2] * out.shape[-1])


@case("convolution", "convolution_input_grad", "convolution_filter_grad")
def convolution(d):
    w = Windows(d)
    groups = d.pick(1, 1, 2)
    inner, outer = d.int(1, 3), d.int(1, 3)
    if d.large:
        inner, outer = 8, 7
    channels = inner * groups
    filters = d.finite((*w.kernel, inner, outer * groups))
    x = d.finite((w.batch, *w.size, channels))
    dy = d.finite((w.batch, *w.out, outer * groups))
    kind = d.index_dtype()
    count = 8 * int(np.prod(w.kernel)) * inner * outer + 64
    if d.op == "convolution":
        return Example(
            [x, filters],
            w.attrs(),
            lambda: narrow(convolve(w, wide(x), wide(filters), groups), d.dtype),
            ulps=count,
            atol=count,
        )
    if d.op == "convolution_input_grad":

        def input_gradient():
            padded = w.padded(np.zeros(x.shape))
            for place, cut in w.cuts():
                weights = wide(filters)[place].reshape(inner, groups, outer)
                part = np.einsum("...go,igo->...gi", grouped(wide(dy), groups), weights)
                padded[cut] += part.reshape(*part.shape[:-2], channels)
            return narrow(w.inside(padded), d.dtype)

        return Example(
            [np.array(x.shape, kind), filters, dy],
            w.attrs(),
            input_gradient,
            ulps=count,
            atol=count,
        )

    def filter_gradient():
        padded, result = w.padded(wide(x)), np.zeros(filters.shape)
        for place, cut in w.cuts():
            part = np.einsum(
                "ngi,ngo->igo",
                grouped(padded[cut], groups).reshape(-1, groups, inner),
                grouped(wide(dy), groups).reshape(-1, groups, outer),
            )
            result[place] = part.reshape(inner, -1)
        return narrow(result, d.dtype)

    count = 64 + 8 * dy.size
    return Example(
        [x, np.array(filters.shape, kind), dy], w.attrs(), filter_gradient, ulps=count, atol=count
    )


def stacked(w, x, fill):
    return np.stack([w.padded(x, fill)[cut] for _, cut in w.cuts()])


def distinct(d, shape):
    """Values none of which ties with another in a window."""
    size = int(np.prod(shape))
    flat = d.rng.permutation(size) - size // 2
    if d.dtype in ("bfloat16", "float16") and size > 250:
        flat = flat % 251 - 125
    return narrow(flat.reshape(shape), d.dtype)


@case("max_pool", "avg_pool")
def pool(d):
    w = Windows(d)
    channels = d.int(1, 4) if not d.large else 33
    x = d.finite((w.batch, *w.size, channels))

    def expected():
        if d.op == "max_pool":
            fill = np.iinfo(d.dtype).min if "int" in d.dtype else -np.inf
            return narrow(stacked(w, wide(x), fill).max(0), d.dtype)
        here = stacked(w, np.ones(x.shape), 0).sum(0)
        return narrow(stacked(w, wide(x), 0).sum(0) / here, d.dtype)

    return Example([x], w.attrs(ksize=True), expected, ulps=16, atol=16)


@case("avg_pool_grad")
def avg_pool_grad(d):
    w = Windows(d)
    shape = (w.batch, *w.size, d.int(1, 4) if not d.large else 33)
    dy = d.finite((w.batch, *w.out, shape[-1]))

    def expected():
        here = stacked(w, np.ones(shape), 0).sum(0)
        padded = w.padded(np.zeros(shape))
        for _, cut in w.cuts():
            padded[cut] += wide(dy) / here
        return narrow(w.inside(padded), d.dtype)

    return Example(
        [np.array(shape, d.index_dtype()), dy], w.attrs(ksize=True), expected, ulps=64, atol=64
    )


def winners(w, x):
    """The first greatest element of each window: its number in a flat padded tensor."""
    fill = np.iinfo(x.dtype).min if x.dtype.kind == "i" else -np.inf
    values = stacked(w, wide(x), fill)
    shape = w.padded(np.zeros(x.shape)).shape
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    places = np.stack([numbers[cut] for _, cut in w.cuts()])
    return np.take_along_axis(places, values.argmax(0)[None], 0)[0], shape


@case("max_pool_grad", "max_pool_take", "max_pool_with_argmax")
def max_pool_places(d):
    w = Windows(d)
    if d.op == "max_pool_with_argmax" and w.spatial != 2:
        d.large, before = True, d.large
        w = Windows(d)
        d.large, w.batch, w.size = before, 2, w.size
    channels = d.int(1, 4) if not d.large else 33
    x = distinct(d, (w.batch, *w.size, channels))
    if np_dtype(d.dtype).itemsize == 2 and x.size > 250:
        x = d.finite(x.shape)
        x = narrow(np.round(wide(x), 2), d.dtype)
    at, shape = winners(w, x)
    numbers = np.full(int(np.prod(shape)), -1)
    within = np.arange(x.size).reshape(x.shape)
    flat = w.padded(within, -1).reshape(-1)
    numbers = flat[at]  # of the winners in x
    if d.op == "max_pool_with_argmax":
        whole = d.flag()
        image = int(np.prod(x.shape[1:]))
        attrs = {**w.attrs(ksize=True), "include_batch_in_index": whole}
        return Example(
            [x],
            attrs,
            lambda: [x.reshape(-1)[numbers], numbers if whole else numbers % max(image, 1)],
        )
    y = x.reshape(-1)[numbers]
    if d.op == "max_pool_take":
        values = d.finite(x.shape)
        return Example([x, y, values], w.attrs(ksize=True), lambda: values.reshape(-1)[numbers])
    dy = d.finite(y.shape)

    def expected():
        dx = np.zeros(x.size, wide(dy).dtype)
        np.add.at(dx, numbers.reshape(-1), wide(dy).reshape(-1))
        return narrow(dx.reshape(x.shape), d.dtype)

    return Example([x, y, dy], w.attrs(ksize=True), expected, ulps=64, atol=64)


def statistics_dtype(d):
    return "float64" if d.dtype == "float64" else "float32"


def normalised(d, rank=2):
    return d.shape(rank, 4, dims=1) if not d.large else (1501, 93)


@case("batch_norm", "batch_norm_grad")
def batch_norm(d):
    shape, kind = normalised(d), statistics_dtype(d)
    x, channels = d.finite(shape), shape[-1]
    scale, offset = d.finite(channels, kind), d.finite(channels, kind)
    rows = tuple(range(len(shape) - 1))
    mean, variance = wide(x).mean(rows), wide(x).var(rows)
    rstd = 1 / np.sqrt(variance + 1e-2)
    hat = (wide(x) - mean) * rstd
    if d.op == "batch_norm":

        def forward():
            y = narrow(hat * wide(scale) + wide(offset), d.dtype)
            return y, narrow(mean, kind), narrow(variance, kind)

        return Example([x, scale, offset], {"epsilon": 1e-2}, forward, ulps=512, atol=512)
    dy = d.finite(shape)

    def backward():
        g = wide(dy)
        dx = wide(scale) * rstd * (g - g.mean(rows) - hat * (g * hat).mean(rows))
        return [narrow(dx, d.dtype), narrow((g * hat).sum(rows), kind), narrow(g.sum(rows), kind)]

    inputs = [x, scale, narrow(mean, kind), narrow(variance, kind), dy]
    example = Example(inputs, {"epsilon": 1e-2}, backward)
    example.ulps = example.atol = 2048 + 4 * x.size // channels
    return example


@case("layer_norm", "layer_norm_grad", "rms_norm", "rms_norm_grad")
def row_norms(d):
    shape, kind = normalised(d, 1), statistics_dtype(d)
    x, n = d.finite(shape), shape[-1]
    scale, offset, centred = d.finite(n), d.finite(n), d.op.startswith("layer")
    w = wide(x)
    mean = w.mean(-1, keepdims=True) if centred else np.zeros((*shape[:-1], 1))
    rstd = 1 / np.sqrt(((w - mean) ** 2).mean(-1, keepdims=True) + 1e-2)
    hat = (w - mean) * rstd
    statistics = [narrow(s[..., 0], kind) for s in ((mean, rstd) if centred else (rstd,))]
    if not d.op.endswith("grad"):

        def forward():
            y = hat * wide(scale) + (wide(offset) if centred else 0)
            return [narrow(y, d.dtype), *statistics]

        inputs = [x, scale, offset] if centred else [x, scale]
        return Example(inputs, {"epsilon": 1e-2}, forward, ulps=512, atol=512)
    dy = d.finite(shape)
    rows = tuple(range(len(shape) - 1))

    def backward():
        g = wide(dy)
        to_hat = g * wide(scale)
        dx = to_hat - hat * (to_hat * hat).mean(-1, keepdims=True)
        if centred:
            dx = dx - to_hat.mean(-1, keepdims=True)
        results = [dx * rstd, (g * hat).sum(rows)] + ([g.sum(rows)] if centred else [])
        return [narrow(r, d.dtype) for r in results]

    example = Example([x, scale, *statistics, dy], {}, backward)
    example.ulps = example.atol = 2048 + 4 * x.size // n
    return example


@case("attention", "attention_grad")
def attention(d):
    rest = d.shape(high=2, dims=1) if not d.large else (6,)
    queries, keys, depth, out = (d.int(1, 6) for _ in range(4))
    if d.large:
        queries, keys, depth, out = 131, 147, 32, 32
    q, k = d.finite((*rest, queries, depth)), d.finite((*rest, keys, depth))
    v, scale, causal = d.finite((*rest, keys, out)), d.pick(1.0, 0.3), d.flag()
    mask = d.values((*rest, queries, keys), "bool") if d.flag() else np.array(True)
    scores = scale * wide(q) @ np.swapaxes(wide(k), -1, -2)
    seen = np.broadcast_to(mask, scores.shape)
    if causal:
        seen = seen & np.tri(queries, keys, dtype=bool)
    scores = np.where(seen, scores, -np.inf)
    total = log_sum_exp(scores, (scores.ndim - 1,), True)
    p = np.where(seen, np.exp(scores - np.where(np.isfinite(total), total, 0)), 0)
    y, kind = p @ wide(v), statistics_dtype(d)
    attrs = {"scale": scale, "causal": causal}
    if d.op == "attention":

        def check(outputs):
            limit = {"float64": 1e-12, "float32": 2e-5, "float16": 2e-2}.get(d.dtype, 0.1)
            np.testing.assert_allclose(wide(outputs[0]), y, rtol=limit, atol=limit)
            sees = seen.any(-1)
            assert outputs[1].dtype == np.dtype(kind)
            np.testing.assert_allclose(
                wide(outputs[1])[sees], total[..., 0][sees], rtol=limit, atol=limit
            )

        return Example([q, k, v, mask], attrs, check=check)
    if not seen.any(-1).all():
        return attention(d)
    dy = d.finite(y.shape)

    def check_gradients(outputs):
        g = wide(dy)
        dp = g @ np.swapaxes(wide(v), -1, -2)
        ds = scale * p * (dp - (g * y).sum(-1, keepdims=True))
        want = [ds @ wide(k), np.swapaxes(ds, -1, -2) @ wide(q), np.swapaxes(p, -1, -2) @ g]
        limit = {"float64": 1e-11, "float32": 2e-4, "float16": 0.1}.get(d.dtype, 0.7)
        for a, b in zip(outputs, want, strict=True):
            np.testing.assert_allclose(wide(a), b, rtol=limit, atol=limit)

    inputs = [
        q,
        k,
        v,
        mask,
        narrow(y, d.dtype),
        narrow(total[..., 0], kind),
        dy,
        np.zeros((), kind),
    ]
    # Of a query that sees one key the gradient is the rounding of a difference.
    cancels = 100 if d.dtype in ("float32", "float64") else 1
    return Example(inputs, attrs, check=check_gradients, atol=cancels)


@case(
    "softmax_cross_entropy",
    "softmax_cross_entropy_grad",
    "sparse_softmax_cross_entropy",
    "sparse_softmax_cross_entropy_grad",
)
def cross_entropy(d):
    rows = d.shape(high=2) if not d.large else (2001,)
    classes = d.int(1, 9) if not d.large else 71
    x, sparse = d.finite((*rows, classes)), d.op.startswith("sparse")
    w, kind = wide(x), statistics_dtype(d)
    total = log_sum_exp(w, (w.ndim - 1,), True)
    if sparse:
        labels = d.rng.integers(0, classes, rows)
        soft = np.eye(classes)[labels]
        labels = labels.astype(d.index_dtype())
    else:
        labels = d.finite(x.shape, low=0, high=1)
        soft = wide(labels)
    if not d.op.endswith("grad"):

        def forward():
            loss = (soft * (total - w)).sum(-1)
            return [narrow(loss, d.dtype), narrow(total[..., 0], kind)]

        return Example([x, labels], {}, forward, ulps=128 + classes, atol=128 + classes)
    dloss = d.finite(rows)

    def backward():
        return narrow((np.exp(w - total) - soft) * wide(dloss)[..., None], d.dtype)

    return Example(
        [x, labels, narrow(total[..., 0], kind), dloss], {}, backward, ulps=128, atol=128
    )
