"""The extension's Tensor: operators, protocols, conversion to and from Python's own values."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

from tidemark import _tidemark as tm

pytestmark = pytest.mark.unwatched

FLOAT32, FLOAT64, INT32, UINT8, STRING, INT64, BOOL, BFLOAT16 = 1, 2, 3, 4, 7, 9, 10, 14


def const(value, dtype=0, **options):
    return tm.convert(value, dtype, **options)


def test_arithmetic_between_tensors_and_numbers():
    a, b = const([1.0, 2.0]), const([3.0, 5.0])
    for got, wanted in [
        (a + b, [4, 7]),
        (a - b, [-2, -3]),
        (a * b, [3, 10]),
        (b / a, [3, 2.5]),
        (a + 1, [2, 3]),
        (1 - a, [0, -1]),
        (a * 0.5, [0.5, 1]),
        (6 / a, [6, 3]),
        (-a, [-1, -2]),
        (+a, [1, 2]),
        (a + [1, 2], [2, 4]),
        ([1, 2] + a, [2, 4]),
        (a + np.array([1.0, 2.0]), [2, 4]),
        (np.array([1.0, 2.0]) + a, [2, 4]),
        (np.float64(1) + a, [2, 3]),
    ]:
        assert isinstance(got, tm.Tensor)
        assert got._dtype_enum == FLOAT32
        np.testing.assert_array_equal(got.numpy(), np.float32(wanted))


def test_python_numbers_adapt_to_the_tensor():
    ints = const([1, 2])
    assert (ints + 1)._dtype_enum == INT32
    assert (ints + 1.5)._dtype_enum == FLOAT32
    assert (const([1.0], FLOAT64) + 1.5)._dtype_enum == FLOAT64
    assert (const([1], UINT8) + 300).numpy().tolist() == [45]
    assert (ints + True).numpy().tolist() == [2, 3]


def test_in_place_operators_make_a_new_tensor():
    a = const([1.0])
    kept = a
    a += 1
    assert kept.numpy().tolist() == [1.0]
    assert a.numpy().tolist() == [2.0]


def test_an_operand_that_is_no_tensor():
    a = const([1.0, 2.0])
    with pytest.raises(ValueError, match="unsupported type"):
        a + None
    with pytest.raises(ValueError, match="unsupported type"):
        a + object()

    class Answers:
        def __radd__(self, other):
            return "mine"

        def __add__(self, other):
            return "mine too"

    assert a + Answers() == "mine"


def test_equality_of_what_cannot_be_compared():
    a = const([1.0, 2.0])
    assert (a == None) is False  # noqa: E711
    assert (a != None) is True  # noqa: E711
    assert (a == object()) is False
    assert (a != object()) is True


def test_tensors_are_not_hashable():
    with pytest.raises(TypeError, match=r"Tensor is unhashable. Instead, use tensor.ref\(\)"):
        hash(const(1))


def test_truth():
    assert bool(const(True)) and bool(const(2.5)) and bool(const([[1]])) and bool(const("a"))
    assert not const(0) and not const([]) and not const("")
    with pytest.raises(ValueError, match="truth value"):
        bool(const([1, 2]))


def test_numbers():
    assert int(const(2.7)) == 2
    assert float(const(2)) == 2.0
    assert complex(const(1 + 2j)) == 1 + 2j
    assert range(5)[const(2)] == 2
    assert int(const(2**64 - 1, 23)) == 2**64 - 1
    for convert in (int, float):
        with pytest.raises(TypeError, match="only 0-dimensional arrays"):
            convert(const([1]))
    with pytest.raises(TypeError, match="only integer scalar"):
        range(5)[const(2.0)]


def test_length_and_iteration():
    a = const([[1, 2], [3, 4], [5, 6]])
    assert len(a) == 3
    rows = list(a)
    assert [row.numpy().tolist() for row in rows] == [[1, 2], [3, 4], [5, 6]]
    assert rows[1]._data_address == a._data_address + 8  # a view
    assert list(const(np.zeros((0, 3)))) == []
    with pytest.raises(TypeError, match=r"Scalar tensor has no `len\(\)`"):
        len(const(1))
    with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
        iter(const(1))


def test_numpy_is_a_copy_to_write_into():
    a = const([1.0, 2.0, 3.0])
    array = a.numpy()
    array += 1
    assert a.numpy().tolist() == [1.0, 2.0, 3.0] and array.tolist() == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("share", [np.asarray, lambda t: np.frombuffer(memoryview(t), np.float32)])
def test_asarray_shares_the_elements_and_keeps_them_alive(share):
    a = const([1.0, 2.0, 3.0])
    array = share(a)
    assert array.__array_interface__["data"][0] == a._data_address
    assert not array.flags.writeable
    del a
    gc.collect()
    noise = [const([9.0, 9.0, 9.0]) for _ in range(100)]
    assert array.tolist() == [1.0, 2.0, 3.0]
    assert len(noise) == 100


def test_numpy_of_scalars_strings_and_empty_tensors():
    assert type(const(1).numpy()) is np.int32
    assert type(const(1.0).numpy()) is np.float32
    assert const("abc").numpy() == b"abc"
    texts = const([["a", b"b"], ["\u00e4", ""]]).numpy()
    assert texts.dtype == object
    assert texts.tolist() == [[b"a", b"b"], ["\u00e4".encode(), b""]]
    assert const(np.zeros((2, 0, 3))).numpy().shape == (2, 0, 3)


def test_bfloat16_goes_through_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = const([1.0, 2.5], BFLOAT16)
    array = a.numpy()
    assert array.dtype == ml_dtypes.bfloat16
    assert array.tolist() == [1.0, 2.5]
    back = const(array)
    assert back._dtype_enum == BFLOAT16
    assert back.numpy().tolist() == [1.0, 2.5]


def test_array_protocol():
    a = const([1.0, 2.0])
    assert np.asarray(a).dtype == np.float32
    assert np.asarray(a, dtype=np.float64).tolist() == [1.0, 2.0]
    assert a.__array__(np.int32).dtype == np.int32
    copied = a.__array__(copy=True)
    copied[0] = 5
    assert a.numpy()[0] == 1
    assert np.add(a, 1).tolist() == [2.0, 3.0]
    assert a.__array_priority__ == 100


def test_buffer_protocol():
    a = const([[1, 2, 3], [4, 5, 6]])
    view = memoryview(a)
    assert view.readonly and view.format == "i"
    assert view.shape == (2, 3) and view.strides == (12, 4)
    assert view.tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(BufferError):
        memoryview(const(["a"]))


def test_dlpack_round_trip_shares_memory():
    a = const([[1.0, 2.0], [3.0, 4.0]])
    assert a.__dlpack_device__() == (1, 0)
    b = tm.from_dlpack(a)
    assert b._data_address == a._data_address
    assert np.from_dlpack(a).__array_interface__["data"][0] == a._data_address
    array = np.arange(6, dtype=np.int64).reshape(2, 3)
    c = tm.from_dlpack(array)
    assert c._data_address == array.__array_interface__["data"][0]
    assert tm.from_dlpack(array[:, ::2]).numpy().tolist() == [[0, 2], [3, 5]]
    capsule = a.__dlpack__()
    del a, b
    assert tm.from_dlpack(capsule).numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(ValueError, match="DLPack capsule"):
        tm.from_dlpack(capsule)
    capsule = None


def test_unused_dlpack_capsules_let_go_of_the_tensor():
    before = tm.stats()["live_buffers"]
    for version in (None, (1, 0)):
        const([1.0]).__dlpack__(max_version=version)
    assert tm.stats()["live_buffers"] == before


def test_pickle_and_copies():
    for value in (const([[1.5, 2.5]]), const(["a", "b"]), const(3), const([1.0], BFLOAT16)):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            back = pickle.loads(pickle.dumps(value, protocol))
            assert back._dtype_enum == value._dtype_enum
            assert back._shape_tuple() == value._shape_tuple()
            assert np.array_equal(back.numpy(), value.numpy())
    a = const([1.0])
    assert copy.copy(a) is a and copy.deepcopy(a) is a


def test_weak_references_and_attributes():
    a = const([1.0])
    seen = []
    ref = weakref.ref(a, seen.append)
    a._keras_mask = "mask"
    assert a._keras_mask == "mask" and a.__dict__ == {"_keras_mask": "mask"}
    del a
    assert ref() is None and seen
    fresh = const([2.0])
    assert not hasattr(fresh, "_keras_mask")


def test_cycles_through_attributes_are_collected():
    gc.collect()  # what earlier tests left
    before = tm.stats()["live_buffers"]
    for _ in range(10):
        a = const([1.0])
        a.self = a
    del a
    gc.collect()
    assert tm.stats()["live_buffers"] == before


def test_subclasses():
    class Named(tm.Tensor):
        def __new__(cls, value, name):
            self = super().__new__(cls, value)
            self.name = name
            return self

    a = Named([1.0, 2.0], "weights")
    assert isinstance(a, tm.Tensor) and a.name == "weights"
    assert (a + a).numpy().tolist() == [2.0, 4.0]
    assert (a * 2).numpy().tolist() == [2.0, 4.0]


def test_shape_dtype_and_device():
    a = const(np.zeros((2, 3)))
    assert a._shape_tuple() == (2, 3) and a.ndim == 2
    assert a._dtype_enum == FLOAT64
    assert a.device.endswith("CPU:0")


def test_positions_and_runs_of_rows_are_views():
    array = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    a = const(array)
    for key in (0, -1, 3, (1, 2), (1, 2, -1), (), slice(1, 3), slice(None), slice(-2, None)):
        item = a[key]
        np.testing.assert_array_equal(item.numpy(), array[key])
        assert a._data_address <= item._data_address < a._data_address + a._nbytes
    kept = a[2]
    del a
    gc.collect()
    assert kept.numpy().tolist() == [[12, 13], [14, 15], [16, 17]]
