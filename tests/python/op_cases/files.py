"""Bytes in and out: encodings, compression, records and messages, written by hand here."""

import base64
import tempfile
import zlib
from pathlib import Path

import numpy as np

import tidemark as tf
from op_cases.drawing import Example, case, np_dtype
from op_cases.strings import mapped, texts


def blobs(d):
    shape = d.shape(high=2, total=501)
    flat = [d.rng.bytes(int(n)) for n in d.rng.integers(0, 40, int(np.prod(shape)))]
    out = np.empty(len(flat), object)
    out[:] = flat
    return out.reshape(shape)


def web_safe(value, pad=True):
    text = base64.urlsafe_b64encode(value)
    return text if pad else text.rstrip(b"=")


@case("encode_base64", "decode_base64")
def base_64(d):
    x, pad = blobs(d), d.flag()
    encoded = mapped(lambda v: web_safe(v, pad), x)
    if d.op == "encode_base64":
        return Example([x], {"pad": pad}, lambda: encoded)
    return Example([encoded], {}, lambda: x)


@case("decode_compressed")
def decode_compressed(d):
    x, kind = blobs(d), d.pick("ZLIB", "GZIP")

    def pack(value):
        maker = zlib.compressobj(6, zlib.DEFLATED, 15 if kind == "ZLIB" else 31)
        return maker.compress(value) + maker.flush()

    return Example([mapped(pack, x)], {"compression_type": kind}, lambda: x)


@case("decode_raw")
def decode_raw(d):
    dtype, little = d.pick("uint8", "int16", "int32", "float32", "float64", "int64"), d.flag()
    shape, n = d.shape(high=2, total=901), d.int(0, 5)
    values = d.finite((*shape, n), dtype)
    order = values.dtype.newbyteorder("<" if little else ">")
    rows = values.reshape(-1, n) if values.size else np.zeros((int(np.prod(shape)), n), dtype)
    flat = np.empty(len(rows), object)
    flat[:] = [row.astype(order).tobytes() for row in rows]
    size = int(np.prod(shape))
    want = values if size else np.zeros((*shape, 0), dtype)
    return Example(
        [flat.reshape(shape)], {"out_type": dtype, "little_endian": little}, lambda: want
    )


@case("split_csv")
def split_csv(d):
    rows, columns = d.shape(high=2, total=901), d.int(1, 4)
    fields = texts(d, (*rows, columns), words=("a", "", "b c", 'say ""x""', "1,5", "é"))

    def quote(v):
        return b'"' + v + b'"' if b"," in v or b'"' in v else v

    lines = np.empty(rows, object)
    for at in np.ndindex(*rows):
        lines[at] = b",".join(quote(v) for v in fields[at])
    return Example(
        [lines], {"columns": columns}, lambda: mapped(lambda v: v.replace(b'""', b'"'), fields)
    )


@case("read_file")
def read_file(d):
    data = d.rng.bytes(d.int(0, 100) if not d.large else 100_001)
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "data"
    path.write_bytes(data)
    return Example(
        [np.array(str(path).encode(), object)], {}, lambda: np.array(data, object), keep=folder
    )


# Numbers of the dtypes in TensorFlow's messages.
NUMBERS = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "string": 7,
    "complex64": 8,
    "int64": 9,
    "bool": 10,
    "bfloat16": 14,
    "uint16": 17,
    "complex128": 18,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, body):
    """A field of a message that holds bytes."""
    return varint(number << 3 | 2) + varint(len(body)) + body


def tensor_message(x):
    dims = b"".join(field(2, b"\x08" + varint(n)) for n in x.shape)
    name = "string" if x.dtype == object else x.dtype.name
    head = b"\x08" + varint(NUMBERS[name]) + field(2, dims)
    if name == "string":
        return head + b"".join(field(8, v) for v in x.reshape(-1))
    return head + field(4, x.tobytes())


@case("parse_tensor")
def parse_tensor(d):
    dtype = d.pick(*NUMBERS)
    x = d.values(d.shape(), dtype)
    message = np.array(tensor_message(x), object)
    return Example([message], {"out_type": dtype}, lambda: x)


@case("serialize_tensor")
def serialize_tensor(d):
    """Dtype and shape as in a message of TensorFlow's; read back, the same values."""
    x = d.finite(d.shape())

    def check(outputs):
        data = outputs[0].item()
        start = tensor_message(x[:0] if x.ndim else x)[:2]
        assert data[:2] == start == b"\x08" + varint(NUMBERS[d.dtype])
        back = tf.io.parse_tensor(data, getattr(tf, d.dtype)).numpy()
        np.testing.assert_array_equal(np.asarray(back), x)

    return Example([x], {}, check=check)


def feature(values):
    """A list of bytes, floats or integers as a Feature."""
    if values.dtype == object:
        return field(1, b"".join(field(1, v) for v in values))
    if values.dtype.kind == "f":
        return field(2, field(1, values.astype("<f4").tobytes()))
    return field(3, field(1, b"".join(varint(int(v) & (1 << 64) - 1) for v in values)))


def example_message(features):
    entries = [field(1, field(1, k.encode()) + field(2, feature(v))) for k, v in features.items()]
    return field(1, b"".join(entries))


def messages(d, lengths, dtype):
    rows = [d.finite(n, dtype) for n in lengths]
    out = np.empty(len(rows), object)
    out[:] = [example_message({"other": np.array([1]), "key": row}) for row in rows]
    return out, rows


@case("parse_example_fixed")
def parse_fixed(d):
    shape, n = d.pick((), (2,), (2, 3)), d.int(1, 4) if not d.large else 301
    size = int(np.prod(shape))
    data, rows = messages(d, [size] * n, d.dtype)
    default = d.finite(size if d.flag() else 0)
    key = d.pick("key", "key", "absent") if default.size else "key"

    def expected():
        values = [default if key == "absent" else row for row in rows]
        return np.array(values, np_dtype(d.dtype)).reshape(n, *shape)

    return Example([data, default], {"key": key, "dense_shape": list(shape)}, expected)


@case("parse_example_var")
def parse_var(d):
    dtype = d.pick("float32", "int64", "string")
    lengths = d.rng.integers(0, 4, d.int(1, 4) if not d.large else 301)
    data, rows = messages(d, lengths, dtype)

    def expected():
        flat = np.concatenate(rows).astype(np_dtype(dtype))
        return flat, np.cumsum([0, *lengths]).astype(np.int64)

    return Example([data], {"key": "key", "dtype": dtype}, expected)
