"""Memory of other owners, by DLPack and `__array_interface__`: what it says is checked first."""

import ctypes
import gc
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemark as tf

pytestmark = pytest.mark.unwatched


class Array(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("array", Array), ("context", ctypes.c_void_p), ("deleter", Deleter)]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

MEMORY = np.arange(16, dtype=np.float32)


class Capsule:
    """A DLPack capsule that says what `fields` say, true or not; counts being given back."""

    def __init__(self, **fields):
        shape = fields.pop("shape", (2, 3))
        strides = fields.pop("strides", None)
        self.given_back = 0
        self._sizes = (ctypes.c_int64 * max(len(shape), 1))(*shape) if shape is not None else None
        self._strides = (ctypes.c_int64 * max(len(strides), 1))(*strides) if strides else None
        self._deleter = Deleter(self._delete)
        self._managed = Managed(deleter=self._deleter)
        array = self._managed.array
        array.data = MEMORY.ctypes.data
        array.device_type, array.ndim = 1, len(shape)
        array.code, array.bits, array.lanes = 2, 32, 1
        array.shape, array.strides = self._sizes, self._strides
        for name, value in fields.items():
            setattr(array, name, value)
        self.capsule = new_capsule(ctypes.addressof(self._managed), b"dltensor", None)

    def _delete(self, _):
        self.given_back += 1


def test_honest_capsules_are_shared_and_given_back_once():
    for fields, wanted in (
        ({}, [[0, 1, 2], [3, 4, 5]]),
        ({"strides": (1, 2)}, [[0, 2, 4], [1, 3, 5]]),
        ({"strides": (0, 1)}, [[0, 1, 2], [0, 1, 2]]),
        ({"shape": (2,), "byte_offset": 8}, [2, 3]),
        ({"shape": (3,), "strides": (-2,), "byte_offset": 16}, [4, 2, 0]),
        ({"shape": ()}, 0),
        ({"shape": (0, 2**40), "data": None}, []),
    ):
        said = Capsule(**fields)
        t = tf.experimental.dlpack.from_dlpack(said.capsule)
        assert t.numpy().tolist() == wanted
        del t
        gc.collect()
        assert said.given_back == 1


@pytest.mark.parametrize(
    "lie",
    [
        {"ndim": -1},
        {"ndim": 65},
        {"ndim": 2**31 - 1},
        {"shape": (-1,)},
        {"shape": (2**62,)},
        {"shape": (2**62, 2**62)},
        {"shape": (2**31, 2**31, 2**31)},
        {"shape": (2**40,)},
        {"shape": (2,), "strides": (2**61,)},
        {"shape": (2,), "strides": (-(2**63),)},
        {"shape": (2, 2), "strides": (2**62, 2**62)},
        {"shape": (2,), "strides": (2**43,)},
        {"data": None},
        {"data": 8},
        {"data": 2**64 - 8},
        {"byte_offset": 2**64 - 64 * 2**20},
        {"byte_offset": 2**45},
        {"bits": 0},
        {"bits": 7},
        {"lanes": 0},
        {"lanes": 4},
        {"code": 3},
        {"code": 255},
        {"device_type": 2},
        {"device_type": -1},
    ],
)
def test_capsules_that_lie_get_an_error_and_are_given_back(lie):
    live = tf.memory.stats().live
    said = Capsule(**lie)
    with pytest.raises((BufferError, ValueError, tf.errors.OpError)) as caught:
        tf.experimental.dlpack.from_dlpack(said.capsule)
    assert str(caught.value)
    assert said.given_back == 1
    with pytest.raises(ValueError, match="used before"):
        tf.experimental.dlpack.from_dlpack(said.capsule)
    assert tf.memory.stats().live == live


ANY = st.one_of(st.integers(-4, 20), st.sampled_from([2**31, 2**62, -(2**63), 2**63 - 1]))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(ANY, ANY), max_size=5), st.booleans(), st.integers(0, 70))
def test_capsules_of_any_sizes(dims, has_strides, offset):
    shape = [size for size, _ in dims]
    strides = [stride for _, stride in dims] if has_strides else None
    said = Capsule(shape=shape, strides=strides, byte_offset=offset)
    inside = fits(shape, strides, offset)
    if not inside and math.prod(shape) > 0 and all(abs(n) < 2**20 for n in reach(shape, strides)):
        return  # pages beside ours may well be mapped: nobody can tell that they are not meant
    try:
        with tf.memory.limit("64MiB"):
            t = tf.experimental.dlpack.from_dlpack(said.capsule)
    except tf.errors.ResourceExhaustedError:
        assert not inside or 0 in strides  # one element said to be billions: a copy has no room
    except (BufferError, ValueError, tf.errors.OpError):
        assert not inside
    else:
        assert inside and list(t.shape) == shape
        if 0 not in shape:  # NumPy has no empty arrays with huge sizes beside the zero
            t.numpy()
        del t
    gc.collect()
    assert said.given_back == 1


def fits(shape, strides, offset):
    """Whether an array of floats with these sizes lies in MEMORY."""
    if any(size < 0 for size in shape):
        return False
    if 0 in shape:
        return True
    if 4 * math.prod(shape) >= 2**63:
        return False  # one element said to be more than any tensor can hold
    low, high = reach(shape, strides)
    return offset + 4 * low >= 0 and offset + 4 * high + 4 <= MEMORY.nbytes


def reach(shape, strides):
    """How many elements before and after the first one the others lie."""
    low = high = 0
    dense = 1
    for i in reversed(range(len(shape))):
        step = (strides[i] if strides else dense) * (shape[i] - 1)
        low, high = low + min(step, 0), high + max(step, 0)
        dense *= shape[i]
    return low, high


def test_exporters_that_give_no_capsule():
    class Exporter:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **_):
            return "no capsule"

    with pytest.raises((ValueError, TypeError)):
        tf.experimental.dlpack.from_dlpack(Exporter())


def test_an_interface_that_changes_its_mind():
    class Fickle:
        asked = 0

        @property
        def __array_interface__(self):
            self.asked += 1
            size = 4 if self.asked <= 2 else 2**40
            data = (MEMORY.ctypes.data, True)
            return {"version": 3, "shape": (size,), "typestr": "<f4", "data": data}

    for _ in range(3):
        assert tf.convert_to_tensor(Fickle()).numpy().tolist() == [0, 1, 2, 3]
