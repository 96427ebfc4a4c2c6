"""Images of another size, boxes on them, and files of them."""

import struct
import zlib

import numpy as np

import tidemark as tf
from op_cases.drawing import Example, case, narrow, wide


def cubic(b, c):
    """The family of cubics of Mitchell and Netravali."""

    def weight(x):
        x = np.abs(x)
        near = (12 - 9 * b - 6 * c) * x**3 + (-18 + 12 * b + 6 * c) * x**2 + 6 - 2 * b
        far = (
            (-b - 6 * c) * x**3 + (6 * b + 30 * c) * x**2 + (-12 * b - 48 * c) * x + 8 * b + 24 * c
        )
        return np.where(x < 1, near, np.where(x < 2, far, 0)) / 6

    return weight


def lanczos(radius):
    return lambda x: np.where(np.abs(x) < radius, np.sinc(x) * np.sinc(x / radius), 0)


METHODS = {
    "bilinear": lambda x: np.maximum(0, 1 - np.abs(x)),
    "bicubic": cubic(0, 0.5),
    "mitchellcubic": cubic(1 / 3, 1 / 3),
    "lanczos3": lanczos(3),
    "lanczos5": lanczos(5),
    "gaussian": lambda x: np.where(np.abs(x) < 1.5, np.exp(-2 * x * x), 0),
}


def resampling(method, antialias, old, new):
    """[new, old]: how much each old pixel counts for each new one."""
    scale = old / new
    stretch = max(1, scale) if antialias else 1
    centers = (np.arange(new) + 0.5) * scale
    if method == "area":
        edges = np.arange(old)
        low = np.maximum(edges, (centers - scale / 2)[:, None])
        weights = np.maximum(0, np.minimum(edges + 1, (centers + scale / 2)[:, None]) - low)
    else:
        weights = METHODS[method]((np.arange(old) + 0.5 - centers[:, None]) / stretch)
    total = weights.sum(1, keepdims=True)
    return weights / np.where(np.abs(total) > 1e-9, total, 1)


@case("resize_images", "resize_images_grad")
def resize(d):
    n, c = (d.int(1, 2), d.int(1, 3)) if not d.large else (3, 7)
    old = [d.int(1, 9) for _ in range(2)] if not d.large else [61, 67]
    new = [d.int(1, 9) for _ in range(2)] if not d.large else [93, 41]
    method, antialias = d.pick(*METHODS, "area"), d.flag()
    rows, columns = (resampling(method, antialias, *p) for p in zip(old, new, strict=True))
    attrs = {"method": method, "antialias": antialias}
    # Lanczos' windows have weights that cancel; next to their zeros sums are small.
    limits = {"ulps": 4096, "atol": 4096}
    if d.op == "resize_images":
        x = d.finite((n, *old, c))
        return Example(
            [x, np.array(new, d.index_dtype())],
            attrs,
            lambda: narrow(
                np.einsum("yh,xw,nhwc->nyxc", rows, columns, wide(x), optimize=True), d.dtype
            ),
            **limits,
        )
    dy = d.finite((n, *new, c))
    return Example(
        [dy, np.array(old, d.index_dtype())],
        attrs,
        lambda: narrow(
            np.einsum("yh,xw,nyxc->nhwc", rows, columns, wide(dy), optimize=True), d.dtype
        ),
        **limits,
    )


def overlap(a, b):
    def span(box, i):
        return min(box[i], box[i + 2]), max(box[i], box[i + 2])

    common, area_a, area_b = 1.0, 1.0, 1.0
    for i in range(2):
        (a0, a1), (b0, b1) = span(a, i), span(b, i)
        common *= max(0, min(a1, b1) - max(a0, b0))
        area_a, area_b = area_a * (a1 - a0), area_b * (b1 - b0)
    return common / (area_a + area_b - common) if area_a > 0 and area_b > 0 else 0


@case("non_max_suppression")
def suppression(d):
    n = d.int(0, 9) if not d.large else 300
    boxes = d.finite((n, 4), "float32", low=0, high=1)
    scores = d.rng.permutation(n).astype(np.float32) / max(n, 1)
    most, threshold = d.int(0, n + 1), d.pick(0.3, 0.5)
    least = d.pick(None, 0.25)

    def expected():
        taken = []
        for i in np.argsort(-scores, kind="stable"):
            if len(taken) == most or (least is not None and scores[i] <= least):
                break
            if all(overlap(boxes[i], boxes[j]) <= threshold for j in taken):
                taken.append(i)
        return np.array(taken, np.int32), scores[taken]

    attrs = {"iou_threshold": threshold, "score_threshold": least}
    return Example([boxes, scores, np.array(most, d.index_dtype())], attrs, expected, slow=True)


@case("draw_bounding_boxes")
def draw_boxes(d):
    n, h, w, c = d.int(1, 2), d.int(1, 12), d.int(1, 12), d.pick(1, 3, 4)
    if d.large:
        n, h, w = 3, 97, 101
    x = d.finite((n, h, w, c))
    boxes = np.sort(d.finite((n, d.int(0, 3), 2, 2), "float32", low=-0.2, high=1.2), axis=2)
    boxes = boxes.reshape(n, -1, 4) if boxes.size else np.zeros((n, 0, 4), np.float32)
    colors = d.finite((d.int(1, 3), 4), "float32", low=0, high=1)

    def expected():
        y = wide(x).copy()
        for i in range(n):
            for b, box in enumerate(boxes[i]):
                size = np.array([h - 1, w - 1] * 2, np.float32)
                top, left, bottom, right = np.trunc(box * size).astype(int)
                r = np.arange(h)[:, None]
                s = np.arange(w)[None]
                inside = (r >= top) & (r <= bottom) & (s >= left) & (s <= right)
                edge = (r == top) | (r == bottom) | (s == left) | (s == right)
                if top < h and bottom >= 0 and left < w and right >= 0:
                    y[i][inside & edge] = colors[b % len(colors)][:c]
        return narrow(y, d.dtype)

    return Example([x, boxes, colors], {}, expected)


def png_chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(pixels):
    """A PNG file, rows unfiltered."""
    h, w, c = pixels.shape
    depth = 8 * pixels.dtype.itemsize
    color = {1: 0, 2: 4, 3: 2, 4: 6}[c]
    rows = b"".join(b"\0" + row.astype(pixels.dtype.newbyteorder(">")).tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", w, h, depth, color, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + png_chunk(b"IHDR", head)
        + png_chunk(b"IDAT", zlib.compress(rows))
        + png_chunk(b"IEND", b"")
    )


def unfiltered(kind, row, above, step):
    """A row of a PNG file as it was before its filter."""
    out = np.zeros(len(row), np.uint8)
    for i, value in enumerate(row):
        left = int(out[i - step]) if i >= step else 0
        up, corner = int(above[i]), int(above[i - step]) if i >= step else 0
        near = min(
            (abs(up - corner), 0, left),
            (abs(left - corner), 1, up),
            (abs(left + up - 2 * corner), 2, corner),
        )[2]
        out[i] = (int(value) + (0, left, up, (left + up) // 2, near)[kind]) % 256
    return out


def read_png(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body = 8, b""
    while at < len(data):
        (size,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        part = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(
            kind + part
        )
        if kind == b"IHDR":
            w, h, depth, color = struct.unpack(">IIBB", part[:10])
        body += part if kind == b"IDAT" else b""
        at += 12 + size
    c = {0: 1, 2: 3, 4: 2, 6: 4}[color]
    raw, step = zlib.decompress(body), c * depth // 8
    rows, above = [], np.zeros(w * step, np.uint8)
    for y in range(h):
        line = raw[y * (w * step + 1) : (y + 1) * (w * step + 1)]
        above = unfiltered(line[0], line[1:], above, step)
        rows.append(above)
    return np.array(rows).view(">u2" if depth == 16 else "u1").reshape(h, w, c).astype(int)


@case("encode_png")
def encode_png(d):
    h, w, c = (d.int(1, 9), d.int(1, 9), d.int(1, 4)) if not d.large else (129, 131, 3)
    x = d.rng.integers(0, np.iinfo(d.dtype).max + 1, (h, w, c)).astype(d.dtype)

    def check(outputs):
        np.testing.assert_array_equal(read_png(outputs[0].item()), x)

    return Example([x], {"compression": d.int(-1, 9)}, check=check, slow=True)


@case("decode_image_file")
def decode_image(d):
    h, w, c = (d.int(1, 9), d.int(1, 9), d.pick(1, 3, 4)) if not d.large else (129, 131, 3)
    dtype = d.pick("uint8", "uint16")
    x = d.rng.integers(0, np.iinfo(dtype).max + 1, (h, w, c)).astype(dtype)
    return Example([np.array(png(x), object)], {"channels": c, "dtype": dtype}, lambda: x)


def smooth(d, c):
    h, w = (d.int(1, 40), d.int(1, 40)) if not d.large else (131, 77)
    y, x = np.indices((h, w))
    waves = [127 + 60 * np.sin(x / 20 + i) + 50 * np.cos(y / 17) for i in range(c)]
    return np.stack(waves, -1).astype(np.uint8)


@case("encode_jpeg")
def encode_jpeg(d):
    """What a reader of it sees is near to what was written."""
    c = d.pick(1, 3)
    x = smooth(d, c)

    def check(outputs):
        data = outputs[0].item()
        assert data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9"
        seen = tf.io.decode_jpeg(data, channels=c).numpy()
        assert seen.shape == x.shape
        assert np.abs(seen.astype(int) - x).mean() < 4
        np.testing.assert_allclose(seen.mean(), x.mean(), atol=3)

    attrs = {
        "quality": 95,
        "progressive": d.flag(),
        "optimize_size": d.flag(),
        "chroma_downsampling": d.flag(),
    }
    return Example([x], attrs, check=check)


@case("extract_jpeg_shape")
def extract_jpeg_shape(d):
    x, out = smooth(d, d.pick(1, 3)), d.index_dtype()
    data = np.array(tf.io.encode_jpeg(x).numpy(), object)
    return Example([data], {"output_type": out}, lambda: np.array(x.shape, out))
