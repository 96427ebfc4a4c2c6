"""safetensors: a file of the format's own library is read and written to the byte, nothing is
copied, damage is told."""

import json
import struct
from pathlib import Path

import flat
import numpy as np
import pytest

import tidemark as tf

# Written by safetensors 0.8: {"z/…": [[0, 1, 3]] of every dtype, "scalar": 3, an empty one with a
# name that must be escaped}.
RECORDED = Path(__file__).parent / "data" / "every_type.safetensors"
ODD_NAME = 'é"x\t\x7f/\u2028\x01'
DTYPES = {
    "b": tf.bool,
    "u8": tf.uint8,
    "i8": tf.int8,
    "i16": tf.int16,
    "u16": tf.uint16,
    "f16": tf.float16,
    "bf": tf.bfloat16,
    "i32": tf.int32,
    "u32": tf.uint32,
    "f32": tf.float32,
    "f64": tf.float64,
    "i64": tf.int64,
    "u64": tf.uint64,
    "c64": tf.complex64,
}


def test_reads_what_the_formats_own_library_wrote():
    tensors = tf.safetensors.load_file(RECORDED)
    assert set(tensors) == {f"z/{name}" for name in DTYPES} | {"scalar", ODD_NAME}
    for name, dtype in DTYPES.items():
        value = tensors[f"z/{name}"]
        assert value.dtype == dtype and value.shape == [1, 3]
        wanted = tf.cast(tf.constant([[0, 1, 3]]), dtype)
        assert (value.numpy() == wanted.numpy()).all()
    assert tensors["scalar"].shape == [] and tensors["scalar"].numpy() == 3
    assert tensors[ODD_NAME].shape == [0, 3]


def test_writes_the_same_bytes(tmp_path):
    recorded = RECORDED.read_bytes()
    tensors = tf.safetensors.load(recorded)
    metadata = {"note": 'vé"\n'}
    assert tf.safetensors.save(tensors, metadata) == recorded
    tf.safetensors.save_file(tensors, tmp_path / "again.safetensors", metadata=metadata)
    assert (tmp_path / "again.safetensors").read_bytes() == recorded


def test_opens_a_file_to_read_one_by_one():
    with tf.safetensors.safe_open(RECORDED, framework="tf") as file:
        assert file.metadata() == {"note": 'vé"\n'}
        names = file.keys()
        assert "z/f32" in names
        assert file.get_tensor("z/f32").numpy().tolist() == [[0, 1, 3]]
        with pytest.raises(tf.errors.NotFoundError, match="nobody"):
            file.get_tensor("nobody")
    with pytest.raises(ValueError, match="closed"):
        file.keys()
    with pytest.raises(ValueError, match="framework"):
        tf.safetensors.safe_open(RECORDED, framework="pt")


def test_loading_copies_nothing(tmp_path):
    path = tmp_path / "large.safetensors"
    size = 8 << 20
    tf.safetensors.save_file({"w": np.ones(size, np.float32)}, path)
    resident = flat.resident_bytes()
    tensors = tf.safetensors.load_file(path)
    assert flat.resident_bytes() - resident < size
    path.unlink()  # the pages stay as long as the tensor
    assert float(tf.reduce_sum(tensors["w"])) == size


def test_values_of_variables_and_arrays(tmp_path):
    path = tmp_path / "v.safetensors"
    variable = tf.Variable([[1.0, 2.0]])
    tf.safetensors.save_file({"v": variable, "array": np.arange(3), "number": 2.5}, path)
    variable.assign([[0.0, 0.0]])
    tensors = tf.safetensors.load_file(path)
    variable.assign(tensors["v"])
    assert variable.numpy().tolist() == [[1.0, 2.0]]
    assert tensors["array"].numpy().tolist() == [0, 1, 2] and tensors["number"].numpy() == 2.5
    restored = tf.Variable(tensors["v"])
    restored.assign_add([[1.0, 1.0]])  # the mapped file is read-only; a variable is not
    assert tf.safetensors.load_file(path)["v"].numpy().tolist() == [[1.0, 2.0]]


def test_says_what_cannot_be_written(tmp_path):
    path = tmp_path / "x.safetensors"
    with pytest.raises(
        tf.errors.UnimplementedError, match="(?s)'one' of string.*'two' of complex128"
    ):
        tf.safetensors.save_file({"one": "text", "two": np.ones(1, complex)}, path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError, match="metadata"):
        tf.safetensors.save_file({}, path, metadata={"steps": 3})
    with pytest.raises(TypeError, match="dictionary"):
        tf.safetensors.save_file([1.0], path)
    with pytest.raises(TypeError, match="named"):
        tf.safetensors.save_file({1: 1.0}, path)


def test_says_which_tensors_have_no_dtype_here(tmp_path):
    header = json.dumps(
        {
            "narrow": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [0, 2]},
            "plain": {"dtype": "U8", "shape": [2], "data_offsets": [2, 4]},
        }
    ).encode()
    path = tmp_path / "narrow.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"abcd")
    with pytest.raises(tf.errors.UnimplementedError, match="'narrow' of F8_E4M3"):
        tf.safetensors.load_file(path)
    assert tf.safetensors.safe_open(path).get_tensor("plain").numpy().tolist() == [99, 100]


@pytest.mark.parametrize("cut", [0, 7, 8, 100, 1216])
def test_tells_a_file_that_is_cut_short(tmp_path, cut):
    path = tmp_path / "cut.safetensors"
    path.write_bytes(RECORDED.read_bytes()[:cut])
    with pytest.raises(tf.errors.DataLossError, match=r"cut\.safetensors is damaged"):
        tf.safetensors.load_file(path)


def test_loading_and_saving_stay_flat(tmp_path):
    path = tmp_path / "flat.safetensors"

    def once():
        tf.safetensors.save_file(tf.safetensors.load_file(RECORDED), path)
        tf.safetensors.load_file(path)

    flat.assert_flat(once, 200)
