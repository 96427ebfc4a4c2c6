"""Files of weights in many formats, read by name; what no code is run for."""

import json
import pickle
import zipfile
from pathlib import Path

import flat
import numpy as np
import pytest

import tidemark as tf

DATA = Path(__file__).parent / "data" / "weights"
TORCH = json.loads((DATA / "torch.json").read_text())


def check_torch(name, expected):
    tensors = tf.weights.load(DATA / name)
    assert set(tensors) == set(expected)
    for key, wanted in expected.items():
        got = np.array(tensors[key])
        assert list(got.shape) == wanted["shape"]
        if got.dtype.kind == "c":
            got = np.stack([got.real, got.imag], -1)
        np.testing.assert_array_equal(
            got.astype(float).ravel(), np.array(wanted["values"], float).ravel()
        )


@pytest.mark.parametrize("name", ["every_type.pt", "before_1_6.pth"])
def test_torch_of_every_type(name):
    check_torch(name, TORCH["every_type.pt"])


def test_torch_checkpoint_of_dictionaries():
    check_torch("checkpoint.pt", TORCH["checkpoint.pt"])


def test_torch_types_have_dtypes_here():
    tensors = tf.weights.load(DATA / "every_type.pt")
    for name in ("float16", "bfloat16", "int64", "uint8", "bool", "complex64"):
        assert tensors[name].dtype.name == name


def test_torch_with_code_is_refused_by_name():
    with pytest.raises(tf.errors.UnimplementedError, match="__main__.Custom.*state_dict"):
        tf.weights.load(DATA / "with_code.pt")


class Runs:
    def __reduce__(self):
        return (eval, ("__import__('os').mkdir('was_run')",))


def test_pickles_that_would_run_code_do_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for protocol in (2, 4, 5):
        with zipfile.ZipFile("evil.pt", "w") as archive:
            archive.writestr("archive/data.pkl", pickle.dumps({"w": Runs()}, protocol))
        with pytest.raises(tf.errors.UnimplementedError, match="eval"):
            tf.weights.load("evil.pt")
    assert not Path("was_run").exists()


def test_numpy_archives(tmp_path):
    arrays = {
        "w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "columns": np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
        "flags": np.array([True, False]),
        "scalar": np.array(5),
        "none": np.zeros((0, 3)),
        "half": np.array([1.5], np.float16),
        "complex": np.array([1 + 2j]),
    }
    np.savez(tmp_path / "stored.npz", **arrays)
    np.savez_compressed(tmp_path / "packed.npz", **arrays)
    for name in ("stored.npz", "packed.npz"):
        with tf.weights.open(tmp_path / name) as file:
            assert set(file) == set(arrays)
            assert file.describe("w") == ("float32", (2, 3), 24)
            for key, wanted in arrays.items():
                got = np.array(file[key])
                assert got.dtype == wanted.dtype
                np.testing.assert_array_equal(got, wanted)


def test_numpy_objects_and_texts_are_named_not_run(tmp_path):
    path = tmp_path / "m.npz"
    np.savez(path, w=np.ones(2), o=np.array([Runs()], object), t=np.array(["a"]))
    with tf.weights.open(path) as file:
        np.testing.assert_array_equal(file["w"], [1, 1])
        for name, kind in (("o", "[|]O"), ("t", "<U1")):
            with pytest.raises(tf.errors.UnimplementedError, match=kind):
                file[name]
        with pytest.raises(KeyError):
            file["other"]


def test_a_wrong_checksum_of_what_is_compressed_is_damage(tmp_path):
    path = tmp_path / "m.npz"
    np.savez_compressed(path, w=np.arange(1000.0))
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02") + 16
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match="checksum"):
        tf.weights.load(path)


def test_what_is_written_is_read_by_numpy_and_here(tmp_path):
    tensors = {"a/b": tf.ones([2, 2]), "c": tf.constant([1, 2], tf.int64)}
    tf.weights.save(tensors, tmp_path / "m.npz")
    loaded = np.load(tmp_path / "m.npz")
    assert sorted(loaded) == ["a/b", "c"]
    np.testing.assert_array_equal(loaded["a/b"], np.ones([2, 2]))
    tf.weights.save(tensors, tmp_path / "m.safetensors")
    for name in ("m.npz", "m.safetensors"):
        again = tf.weights.load(tmp_path / name)
        np.testing.assert_array_equal(again["c"], [1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="safetensors or .npz"):
        tf.weights.save(tensors, tmp_path / "m.txt")


@pytest.mark.parametrize("name", ["every_type.pt", "before_1_6.pth", "checkpoint.pt"])
def test_cut_short_anywhere(name, tmp_path):
    whole = (DATA / name).read_bytes()
    path = tmp_path / name
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(tf.errors.OpError):
            tf.weights.load(path)


def test_reading_stays_flat():
    flat.assert_flat(lambda: tf.weights.load(DATA / "checkpoint.pt"), rounds=50)
