"""tf.io and tf.train, compared with Python's own modules and TensorFlow's bytes."""

import base64
import csv
import gzip
import io
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidemark.io._tfrecord import tf_record_iterator

import tidemark as tf

DTYPES = [
    tf.bool, tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.uint32, tf.int64, tf.uint64,
    tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128,
]  # fmt: skip


# --- raw bytes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int16, np.uint32, np.float64, np.complex64])
def test_decode_raw(dtype):
    rows = np.arange(12).reshape(2, 6).astype(dtype)
    little = tf.io.decode_raw([row.tobytes() for row in rows], tf.as_dtype(dtype))
    np.testing.assert_array_equal(little.numpy(), rows)
    swapped = [row.byteswap().tobytes() for row in rows]
    big = tf.io.decode_raw(swapped, tf.as_dtype(dtype), little_endian=False)
    np.testing.assert_array_equal(big.numpy(), rows)


def test_decode_raw_of_long_texts():
    values = np.random.default_rng(0).integers(0, 2**60, 100_000)
    swapped = values.byteswap().tobytes() + b"tide"
    big = tf.io.decode_raw([swapped], tf.int64, little_endian=False, fixed_length=8 * 100_002)
    assert np.array_equal(big[0, :-2], values)
    assert int(big[0, -2]) == int.from_bytes(b"tide" + bytes(4), "big") and int(big[0, -1]) == 0


def test_decode_raw_of_other_lengths():
    fixed = tf.io.decode_raw(["abc", "abcdef"], tf.uint16, fixed_length=4)
    assert fixed.numpy().tobytes() == b"abc\0abcd"
    assert tf.io.decode_raw(tf.zeros([0], tf.string), tf.float32).shape == (0, 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="same size"):
        tf.io.decode_raw(["abc", "ab"], tf.uint8)
    with pytest.raises(tf.errors.InvalidArgumentError, match="multiple of 4"):
        tf.io.decode_raw("abcde", tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="fixed_length"):
        tf.io.decode_raw("abcde", tf.int32, fixed_length=6)


@given(st.lists(st.binary(max_size=40), max_size=5), st.booleans())
def test_base64(values, pad):
    strings = tf.constant(values, tf.string, shape=[len(values)])
    encoded = tf.io.encode_base64(strings, pad=pad)
    wanted = [base64.urlsafe_b64encode(v) for v in values]
    assert list(encoded.numpy()) == (wanted if pad else [w.rstrip(b"=") for w in wanted])
    assert list(tf.io.decode_base64(encoded).numpy()) == values


@pytest.mark.parametrize("text", ["a", "ab+/", "====", "ab=c", "a\n"])
def test_malformed_base64(text):
    with pytest.raises(tf.errors.InvalidArgumentError, match="base64"):
        tf.io.decode_base64(text)


@given(st.lists(st.binary(max_size=3000), max_size=4))
def test_decompression(values):
    for kind, compress in (("ZLIB", zlib.compress), ("GZIP", gzip.compress)):
        packed = tf.constant([compress(v) for v in values], tf.string, shape=[len(values)])
        assert list(tf.io.decode_compressed(packed, kind).numpy()) == values
    assert tf.io.decode_compressed("abc").numpy() == b"abc"


def test_malformed_compression():
    good = zlib.compress(b"tide" * 100)
    for bad in (good[:-3], b"nothing", b"", good + b"more"):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_compressed(bad, "ZLIB")
    with pytest.raises(tf.errors.InvalidArgumentError, match="supported"):
        tf.io.decode_compressed("a", "LZ4")


# --- CSV ------------------------------------------------------------------------------------------

fields = st.text(alphabet='ab,"1 ', max_size=6)


@given(st.lists(st.lists(fields, min_size=3, max_size=3), max_size=5))
def test_csv_as_pythons(rows):
    lines = []
    for row in rows:
        out = io.StringIO()
        csv.writer(out, lineterminator="", quoting=csv.QUOTE_ALL).writerow(row)
        lines.append(out.getvalue())
    records = tf.constant(lines, tf.string, shape=[len(lines)])
    columns = tf.io.decode_csv(records, [[""], [""], [""]])
    assert [[v.decode() for v in c.numpy()] for c in columns] == [
        [row[i] for row in rows] for i in range(3)
    ]


def test_csv_defaults_and_errors():
    a, b = tf.io.decode_csv(["1,NA", ",2.5"], [[7], [0.5]], na_value="NA")
    assert list(a.numpy()) == [1, 7]
    assert list(b.numpy()) == [0.5, 2.5]
    assert tf.io.decode_csv("5", [tf.constant([], tf.int64)])[0].numpy() == 5
    (last,) = tf.io.decode_csv(["a|b|3", "c|d|4"], [[0]], field_delim="|", select_cols=[2])
    assert list(last.numpy()) == [3, 4]
    for records, defaults, message in (
        (["1,2"], [[0]], "Expect 1 fields but have 2"),
        ([""], [tf.constant([], tf.int32)], "required"),
        (["x"], [[0]], "could not correctly convert"),
        (['a"b'], [[""]], "quotes"),
        (['"ab'], [[""]], "Quoted field"),
        (["a\nb"], [[""]], "CRLF"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            tf.io.decode_csv(records, defaults)
    with pytest.raises(ValueError, match="increasing"):
        tf.io.decode_csv(["1"], [[0], [0]], select_cols=[1, 1])


# --- tensors as messages --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
def test_tensor_there_and_back(dtype):
    for shape in ([], [0, 3], [2, 3]):
        value = tf.cast(tf.reshape(tf.range(int(np.prod(shape))) % 2, shape), dtype)
        again = tf.io.parse_tensor(tf.io.serialize_tensor(value), dtype)
        assert again.dtype == dtype
        np.testing.assert_array_equal(again.numpy(), value.numpy())


def test_strings_there_and_back():
    value = tf.constant([["a", ""], ["\0\xff", "long " * 100]])
    again = tf.io.parse_tensor(tf.io.serialize_tensor(value), tf.string)
    assert again.numpy().tolist() == value.numpy().tolist()


def test_bytes_of_tensorflow():
    """Recorded from TensorFlow 2.21; the last two hold their values in typed fields."""
    assert tf.io.serialize_tensor([[1, 2]]).numpy() == (
        b'\x08\x03\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02"\x08\x01\0\0\0\x02\0\0\0'
    )
    packed = b"\x08\x01\x12\x04\x12\x02\x08\x03*\x08\x00\x00\x80?\x00\x00\x00@"
    assert list(tf.io.parse_tensor(packed, tf.float32).numpy()) == [1.0, 2.0, 2.0]
    single = b"\x08\x09\x12\x04\x12\x02\x08\x02P\x05"
    assert list(tf.io.parse_tensor(single, tf.int64).numpy()) == [5, 5]


@pytest.mark.parametrize("data", [
    b"x", b"\x08\x01\x12", b"\x08\x63", b"\x08\x01\x12\x04\x12\x02\x08\x03\"\x01a",
    b"\x08\x01\x12\x04\x12\x02\x08\x01*\x08\0\0\0\0\0\0\0\0", b"\x08\x03\x12\x04\x18\x01",
    b"\x08\x01\x12\x0d\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
])  # fmt: skip
def test_malformed_tensors(data):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_tensor(data, tf.float32)


def test_wrong_dtype():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Type mismatch"):
        tf.io.parse_tensor(tf.io.serialize_tensor([1]), tf.float32)


def test_a_message_may_say_too_much():
    """Few bytes that declare many elements meet the limit, like everything else."""
    huge = b"\x08\x01\x12\x08\x12\x06\x08\x80\x80\x80\x80\x10*\x04\0\0\x80?"
    with tf.memory.limit("64 MiB"), pytest.raises(tf.errors.ResourceExhaustedError):
        tf.io.parse_tensor(huge, tf.float32)


# --- examples -------------------------------------------------------------------------------------


def example(**features):
    made = {}
    kinds = {
        bytes: ("bytes_list", tf.train.BytesList),
        float: ("float_list", tf.train.FloatList),
        int: ("int64_list", tf.train.Int64List),
    }
    for name, values in features.items():
        field, kind = kinds[type(values[0]) if values else int]
        made[name] = tf.train.Feature(**{field: kind(value=values)})
    return tf.train.Example(features=tf.train.Features(feature=made))


def test_example_bytes_of_tensorflow():
    data = example(a=[1, -2]).SerializeToString()
    assert data == b"\n\x16\n\x14\n\x01a\x12\x0f\x1a\r\n\x0b\x01" + b"\xfe" + b"\xff" * 8 + b"\x01"
    again = tf.train.Example.FromString(data)
    assert again.features.feature["a"].int64_list.value == [1, -2]
    assert again.features.feature["a"].WhichOneof("kind") == "int64_list"
    again.features.feature["b"].bytes_list.value.append(b"x")
    assert tf.train.Example.FromString(again.SerializeToString()) == again


def test_sequence_example():
    steps = tf.train.FeatureList(feature=[tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
                                          for i in range(3)])  # fmt: skip
    made = tf.train.SequenceExample(
        context=example(n=[3]).features,
        feature_lists=tf.train.FeatureLists(feature_list={"steps": steps}),
    )
    again = tf.train.SequenceExample.FromString(made.SerializeToString())
    values = [f.int64_list.value for f in again.feature_lists.feature_list["steps"].feature]
    assert values == [[0], [1], [2]]
    assert again == made


def test_wrong_values():
    for cls, value in (
        (tf.train.BytesList, "text"),
        (tf.train.FloatList, "1"),
        (tf.train.Int64List, 1.5),
    ):
        with pytest.raises(TypeError):
            cls(value=[value])
    with pytest.raises(ValueError, match="range"):
        tf.train.Int64List(value=[1 << 63])
    with pytest.raises(ValueError, match="parsing"):
        tf.train.Example.FromString(b"\x0a\xff")


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4), min_size=1, max_size=4))
def test_variable_lengths(rows):
    data = [example(k=row, other=[b"x"]).SerializeToString() for row in rows]
    parsed = tf.io.parse_example(data, {"k": tf.io.RaggedFeature(tf.int64)})["k"]
    assert parsed.to_list() == rows
    sparse = tf.io.parse_example(data, {"k": tf.io.VarLenFeature(tf.int64)})["k"]
    assert list(sparse.dense_shape.numpy()) == [len(rows), max(map(len, rows))]
    filled = tf.io.parse_example(
        data, {"k": tf.io.FixedLenSequenceFeature([], tf.int64, True, default_value=9)}
    )["k"]
    longest = max(map(len, rows))
    assert filled.numpy().tolist() == [row + [9] * (longest - len(row)) for row in rows]


def test_fixed_features():
    made = [example(a=[1.5, 2.0], s=[b"x"]), example(a=[3.0, 4.0])]
    data = [message.SerializeToString() for message in made]
    out = tf.io.parse_example(data, {
        "a": tf.io.FixedLenFeature([2], tf.float32),
        "s": tf.io.FixedLenFeature([], tf.string, "none"),
    })  # fmt: skip
    np.testing.assert_array_equal(out["a"].numpy(), [[1.5, 2], [3, 4]])
    assert list(out["s"].numpy()) == [b"x", b"none"]
    one = tf.io.parse_single_example(data[0], {"a": tf.io.FixedLenFeature([1, 2], tf.float32)})
    assert one["a"].shape == (1, 2)
    for features, message in (
        ({"b": tf.io.FixedLenFeature([], tf.int64)}, "required"),
        ({"a": tf.io.FixedLenFeature([2], tf.int64)}, "Data types don't match"),
        ({"a": tf.io.FixedLenFeature([3], tf.float32)}, "Values size"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            tf.io.parse_example(data, features)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example"):
        tf.io.parse_example([b"\x0a\xff"], {"a": tf.io.VarLenFeature(tf.int64)})


# --- record files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [None, "GZIP", "ZLIB"])
def test_records_there_and_back(tmp_path, kind):
    path = str(tmp_path / "x.tfrecord")
    records = [b"", b"a", b"tide" * 10000]
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(kind)) as writer:
        for record in records:
            writer.write(record)
    assert list(tf_record_iterator(path, kind)) == records


def test_record_bytes_of_tensorflow(tmp_path):
    path = tmp_path / "x.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"tide")
    assert path.read_bytes().hex() == RECORD


RECORD = "040000000000000042455204746964653dfaf1cb"


def test_damaged_records(tmp_path):
    path = tmp_path / "x.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"tide mark")
    whole = path.read_bytes()
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 0x40
        path.write_bytes(damaged)
        with pytest.raises(tf.errors.DataLossError):
            list(tf_record_iterator(str(path)))
    for size in range(1, len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(tf.errors.DataLossError):
            list(tf_record_iterator(str(path)))


# --- files ----------------------------------------------------------------------------------------


def test_files(tmp_path):
    name = str(tmp_path / "folder" / "file.txt")
    tf.io.write_file(name, "line one\nline two\n")
    assert tf.io.read_file(name).numpy() == b"line one\nline two\n"
    assert tf.io.read_file("/proc/self/status").numpy().startswith(b"Name:")
    assert list(tf.io.matching_files(str(tmp_path / "*" / "*.txt")).numpy()) == [name.encode()]
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.read_file(str(tmp_path / "none"))
    with pytest.raises(tf.errors.FailedPreconditionError, match="directory"):
        tf.io.read_file(str(tmp_path))


def test_gfile(tmp_path):
    gfile = tf.io.gfile
    folder = gfile.join(str(tmp_path), "a", "b")
    gfile.makedirs(folder)
    gfile.makedirs(folder)
    name = gfile.join(folder, "x.txt")
    with gfile.GFile(name, "w") as file:
        file.write("one\ntwo\n")
    with gfile.GFile(name, "a") as file:
        file.write("three\n")
    with gfile.GFile(name) as file:
        assert file.size() == 14
        assert file.readline() == "one\n"
        assert list(file) == ["two\n", "three\n"]
        file.seek(4)
        assert file.read(3) == "two"
        assert file.tell() == 7
    with gfile.GFile(name, "rb") as file:
        assert file.read() == b"one\ntwo\nthree\n"
    assert gfile.exists(name) and not gfile.isdir(name) and gfile.isdir(folder)
    assert gfile.stat(name).length == 14
    gfile.copy(name, name + "2")
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(name, name + "2")
    gfile.copy(name, name + "2", overwrite=True)
    gfile.rename(name + "2", name + "3")
    assert sorted(gfile.listdir(folder)) == ["x.txt", "x.txt3"]
    assert gfile.glob(gfile.join(folder, "*.txt")) == [name]
    assert [(p, sorted(d), sorted(f)) for p, d, f in gfile.walk(str(tmp_path))][0][1] == ["a"]
    gfile.remove(name)
    for call in (gfile.remove, gfile.stat, gfile.listdir, gfile.rmtree):
        with pytest.raises(tf.errors.NotFoundError):
            call(name)
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.mkdir(folder)
    with pytest.raises(tf.errors.UnimplementedError, match="gs"):
        gfile.exists("gs://bucket/x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode"):
        gfile.GFile(name, "x")
    gfile.rmtree(gfile.join(str(tmp_path), "a"))
    assert gfile.listdir(str(tmp_path)) == []
