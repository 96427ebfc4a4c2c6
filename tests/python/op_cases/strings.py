"""Strings against Python's own."""

import re
import struct

import numpy as np

from op_cases.drawing import Example, case, is_complex, is_float, narrow, wide

WORDS = (
    "",
    "a",
    "b,c",
    " tide mark ",
    "Ärger",
    "été,",
    "日本",
    "x😀y",
    "A-B-C",
    "12",
    "word word",
    "ß!",
)
MASK = (1 << 64) - 1


def texts(d, shape=None, words=WORDS):
    shape = d.shape(total=5_001) if shape is None else shape
    pool = np.array([w.encode() for w in words], object)
    return np.asarray(pool[d.rng.integers(0, len(pool), shape)], object)


def mapped(function, x, dtype=object):
    return np.array([function(v) for v in x.reshape(-1)], dtype).reshape(x.shape)


@case("string_length")
def length(d):
    x, unit = texts(d), d.pick("BYTE", "UTF8_CHAR")
    count = len if unit == "BYTE" else lambda v: len(v.decode())
    return Example([x], {"unit": unit}, lambda: mapped(count, x, np.int32))


@case("string_lower", "string_upper")
def letters(d):
    x, encoding = texts(d, words=(*WORDS[:-1], "Éa")), d.pick("", "utf-8")
    change = str.lower if d.op == "string_lower" else str.upper

    def one(v):
        if encoding:
            return change(v.decode()).encode()
        return v.lower() if d.op == "string_lower" else v.upper()

    return Example([x], {"encoding": encoding}, lambda: mapped(one, x))


@case("string_strip")
def strip(d):
    x = texts(d, words=(" a ", "\tb\n", "c", "", "  ", " d e "))
    return Example([x], {}, lambda: mapped(bytes.strip, x))


@case("string_substr")
def substr(d):
    x, unit = texts(d, words=("abcdef", "déjà vu", "日本語です")), d.pick("BYTE", "UTF8_CHAR")
    pos, count = d.int(-4, 4), d.int(0, 5)

    def one(v):
        units = v if unit == "BYTE" else v.decode()
        begin = pos if pos >= 0 else len(units) + pos
        part = units[begin : begin + count]
        return part if unit == "BYTE" else part.encode()

    kind = d.index_dtype()
    return Example(
        [x, np.array(pos, kind), np.array(count, kind)], {"unit": unit}, lambda: mapped(one, x)
    )


@case("string_join")
def join(d):
    shape, sep = d.shape(total=5_001), d.pick("", "-", "ab")
    parts = [texts(d, shape if d.flag() else ()) for _ in range(d.int(1, 3))] + [texts(d, shape)]

    def expected():
        whole = np.broadcast_arrays(*parts)
        flat = [sep.encode().join(row) for row in zip(*(p.reshape(-1) for p in whole), strict=True)]
        return np.array(flat, object).reshape(shape)

    return Example(parts, {"separator": sep}, expected)


@case("string_reduce_join")
def reduce_join(d):
    x, sep, keepdims = texts(d, d.shape(1, 3)), d.pick("", "+"), d.flag()
    axis = d.pick(None, [d.axis(x.ndim)])
    if d.large:
        x = texts(d, (61, 67))
        axis = [0]

    def expected():
        axes = list(range(x.ndim)) if axis is None else axis
        y = x
        for a in sorted((a % x.ndim for a in axes), reverse=True):
            moved = np.moveaxis(y, a, -1)
            out = np.empty(moved.shape[:-1], object)
            for at in np.ndindex(*out.shape):
                out[at] = sep.encode().join(moved[at])
            y = np.expand_dims(out, a) if keepdims else out
        return y

    return Example([x], {"axis": axis, "keepdims": keepdims, "separator": sep}, expected)


@case("string_segment_join")
def segment_join(d):
    n, count = d.int(0, 9) if not d.large else 3001, d.int(0, 5)
    columns, sep = d.int(1, 3), d.pick("", ",")
    ids = d.rng.integers(0, count, n) if count else np.zeros(0, int)
    x = texts(d, (len(ids), columns))

    def expected():
        joined = [[sep.encode().join(c) for c in x[ids == s].T] for s in range(count)]
        return np.array(joined, object).reshape(count, columns)

    kind = d.index_dtype()
    return Example([x, ids.astype(kind), np.array(count, kind)], {"separator": sep}, expected)


@case("string_to_number")
def to_number(d):
    out = d.pick("float32", "float64", "int32", "int64")
    whole = out.startswith("int")
    words = ("12", "-7", " 5 ", "0") if whole else ("1.5", "-2e3", " 7 ", "inf", "nan", "0x10")[:5]
    x = texts(d, words=words)
    return Example(
        [x], {"out_type": out}, lambda: mapped(lambda v: int(v) if whole else float(v), x, out)
    )


def sip_hash(key, data):
    """SipHash-2-4."""
    k0, k1 = key
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]

    def rotate(x, by):
        return (x << by | x >> (64 - by)) & MASK

    def rounds(times):
        for _ in range(times):
            v[0] = (v[0] + v[1]) & MASK
            v[2] = (v[2] + v[3]) & MASK
            v[1], v[3] = rotate(v[1], 13) ^ v[0], rotate(v[3], 16) ^ v[2]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[1]) & MASK
            v[0] = (v[0] + v[3]) & MASK
            v[1], v[3] = rotate(v[1], 17) ^ v[2], rotate(v[3], 21) ^ v[0]
            v[2] = rotate(v[2], 32)

    padded = data + b"\0" * (7 - len(data) % 8) + bytes([len(data) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def murmur(data):
    """MurmurHash64A with the seed TensorFlow gives it."""
    m = 0xC6A4A7935BD1E995
    h = 0xDECAFCAFFE ^ (len(data) * m & MASK)
    whole = len(data) // 8 * 8
    for (k,) in struct.iter_unpack("<Q", data[:whole]):
        k = k * m & MASK
        h = (h ^ ((k ^ k >> 47) * m & MASK)) * m & MASK
    if len(data) > whole:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & MASK
    h = (h ^ h >> 47) * m & MASK
    return h ^ h >> 47


def farm(data):
    """FarmHash's fingerprint of at most 16 bytes."""
    k0, k2 = 0xC3A5C85C97CB3127, 0x9AE16A3B2F90404F
    n = len(data)

    def rotate(x, by):
        return (x >> by | x << (64 - by)) & MASK

    def mix(u, v, mul):
        a = (u ^ v) * mul & MASK
        b = (v ^ a ^ a >> 47) * mul & MASK
        return (b ^ b >> 47) * mul & MASK

    mul = k2 + 2 * n & MASK
    if n >= 8:
        a = int.from_bytes(data[:8], "little") + k2 & MASK
        b = int.from_bytes(data[-8:], "little")
        c = rotate(b, 37) * mul + a & MASK
        return mix(c, (rotate(a, 25) + b) * mul & MASK, mul)
    if n >= 4:
        a = int.from_bytes(data[:4], "little")
        return mix(n + (a << 3) & MASK, int.from_bytes(data[-4:], "little"), mul)
    if n > 0:
        y = data[0] + (data[n >> 1] << 8)
        z = n + (data[-1] << 2)
        mixed = (y * k2 & MASK) ^ (z * k0 & MASK)
        return (mixed ^ mixed >> 47) * k2 & MASK
    return k2


@case("string_to_hash_bucket", "string_to_hash_bucket_fast", "string_to_hash_bucket_strong")
def buckets(d):
    x, count = texts(d), d.pick(1, 7, 1000003, 2**62)
    attrs, function = {"num_buckets": count}, murmur if d.op.endswith("bucket") else farm
    if d.op.endswith("strong"):
        key = attrs["key"] = [d.int(0, 2**62), d.int(0, 99)]
        return Example([x], attrs, lambda: mapped(lambda v: sip_hash(key, v) % count, x, np.int64))
    return Example([x], attrs, lambda: mapped(lambda v: function(v) % count, x, np.int64))


PATTERNS = (b"a+", b"[a-c]", b"(x|y)", b"w.*d", b"\\d+", b"^$")


@case("regex_full_match", "regex_replace")
def regex(d):
    x = texts(d, words=("aab", "", "12", "word word", "xyx", "b", "c9"))
    pattern = d.pick(*PATTERNS)
    if d.op == "regex_full_match":
        return Example(
            [x, np.array(pattern, object)],
            {},
            lambda: mapped(lambda v: re.fullmatch(pattern, v) is not None, x, bool),
        )
    everywhere = d.flag()
    return Example(
        [x, np.array(pattern, object), np.array(b"<\\0>", object)],
        {"replace_global": everywhere},
        lambda: mapped(lambda v: re.sub(pattern, rb"<\g<0>>", v, count=0 if everywhere else 1), x),
    )


def ragged(rows, dtype=object):
    flat = [v for row in rows for v in row]
    splits = np.cumsum([0, *map(len, rows)])
    return np.array(flat, dtype), splits.astype(np.int64)


@case("string_split", "string_bytes_split")
def split(d):
    x = texts(d, d.dim())
    if d.op == "string_bytes_split":
        return Example(
            [x], {}, lambda: list(ragged([[v[i : i + 1] for i in range(len(v))] for v in x]))
        )
    sep, most = d.pick("", ",", "-", "or"), d.pick(-1, 1, 2)

    def one(v):
        return v.split(sep.encode(), most) if sep else v.split(None, most)

    if not sep and most > 0:
        most = -1
    return Example([x], {"sep": sep, "maxsplit": most}, lambda: list(ragged([one(v) for v in x])))


@case("string_ngrams")
def ngrams(d):
    rows = [[b"a", b"bc", b"d", b"ef"][: d.int(0, 4)] for _ in range(d.int(0, 4))]
    data, splits = ragged(rows)
    width, sep = d.int(1, 3), d.pick(" ", "|")

    def expected():
        grams = [
            [sep.encode().join(r[i : i + width]) for i in range(len(r) - width + 1)] for r in rows
        ]
        values, cuts = ragged(grams)
        return values, cuts.astype(kind)

    kind = d.index_dtype()
    return Example(
        [data, splits.astype(kind)], {"ngram_widths": [width], "separator": sep}, expected
    )


ENCODINGS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}


@case("unicode_decode", "unicode_encode", "unicode_transcode")
def unicode_(d):
    encoding = d.pick(*ENCODINGS)
    words = [v.decode() for v in texts(d, d.dim())]
    encoded = np.array([w.encode(ENCODINGS[encoding]) for w in words], object)
    if d.op == "unicode_transcode":
        to = d.pick(*ENCODINGS)
        return Example(
            [encoded],
            {"input_encoding": encoding, "output_encoding": to},
            lambda: np.array([w.encode(ENCODINGS[to]) for w in words], object),
        )
    points, splits = ragged([[ord(c) for c in w] for w in words], np.int32)
    if d.op == "unicode_encode":
        return Example(
            [points, splits.astype(d.index_dtype())], {"output_encoding": encoding}, lambda: encoded
        )
    starts = []
    for w in words:
        sizes = [len(c.encode(ENCODINGS[encoding])) for c in w]
        starts += np.cumsum([0, *sizes])[:-1].tolist()

    def check(outputs):
        np.testing.assert_array_equal(outputs[0], points)
        by_kind = {o.dtype.name: o for o in outputs[1:]}
        assert len(outputs) == 3 and by_kind
        flat = [o for o in outputs[1:] if o.shape == (len(starts),) and o.tolist() == starts]
        cuts = [o for o in outputs[1:] if o.shape == splits.shape and o.tolist() == splits.tolist()]
        assert flat and cuts

    return Example([encoded], {"input_encoding": encoding}, check=check)


@case("as_string")
def as_string(d):
    x = d.finite(d.shape(total=2_001), low=-99, high=99)

    def check(outputs):
        assert outputs[0].shape == x.shape
        got = [v.decode() for v in outputs[0].reshape(-1)]
        if d.dtype == "string":
            np.testing.assert_array_equal(outputs[0], x)
        elif d.dtype == "bool":
            assert got == ["true" if v else "false" for v in x.reshape(-1)]
        elif is_float(d.dtype):
            assert got == [f"{v:.6f}" for v in wide(x).reshape(-1)]
        elif is_complex(d.dtype):
            assert got == [f"({v.real:.6f},{v.imag:.6f})" for v in wide(x).reshape(-1)]
        else:
            assert got == [str(v) for v in x.reshape(-1).tolist()]

    if is_float(d.dtype) or is_complex(d.dtype):
        x = narrow(np.floor(wide(x).real) + 0.5, d.dtype)
    return Example([x], {}, check=check)
