"""From Python values to tensors: dtypes, shapes and errors as TensorFlow's; arrays that lie."""

import array
import ctypes
import gc

import numpy as np
import pytest

from tidemark import _tidemark as tm

pytestmark = pytest.mark.unwatched

FLOAT32, FLOAT64, INT32, UINT8, STRING, COMPLEX64, INT64, BOOL = 1, 2, 3, 4, 7, 8, 9, 10
BFLOAT16, COMPLEX128, FLOAT16, UINT64 = 14, 18, 19, 23


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [
        (1, INT32, 1),
        (2**31, INT64, 2**31),
        ([2**31, 1], INT64, [2**31, 1]),
        (1.5, FLOAT32, 1.5),
        (True, BOOL, True),
        (1j, COMPLEX128, 1j),
        ("abc", STRING, b"abc"),
        ([1, 2.5], FLOAT32, [1, 2.5]),
        ([2.5, 1], FLOAT32, [2.5, 1]),
        ([1, True], INT32, [1, 1]),
        ([1.0, True], FLOAT32, [1, 1]),
        ([], FLOAT32, []),
        ([[], []], FLOAT32, [[], []]),
        (((1, 2), [3, 4]), INT32, [[1, 2], [3, 4]]),
        (["a", b"b"], STRING, [b"a", b"b"]),
        (range(3), INT32, [0, 1, 2]),
        (np.float64(1.5), FLOAT64, 1.5),
        (np.int64(3), INT64, 3),
        ([np.float64(1.5)], FLOAT64, [1.5]),
        ([np.int64(1)], INT32, [1]),
        ([1, np.float64(1.0)], FLOAT32, [1, 1]),
        ([np.float32(1), 2], FLOAT32, [1, 2]),
        ([np.array([1, 2]), np.array([3, 4])], INT32, [[1, 2], [3, 4]]),
        ([np.bool_(True), False], BOOL, [True, False]),
        (np.array([1, 2], dtype=">i4"), INT32, [1, 2]),
        (np.array(["a", "bc"]), STRING, [b"a", b"bc"]),
        (np.array(["a", "bc"], dtype=object), STRING, [b"a", b"bc"]),
        (np.zeros((2, 0)), FLOAT64, [[], []]),
        (array.array("d", [1.0, 2.0]), FLOAT64, [1, 2]),
        (bytearray(b"ab"), UINT8, [97, 98]),
    ],
)
def test_dtype_follows_the_value(value, dtype, wanted):
    t = tm.convert(value)
    assert t._dtype_enum == dtype
    assert np.asarray(t.numpy()).tolist() == wanted


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [
        (1, FLOAT64, 1.0),
        (300, UINT8, 44),
        (-1, UINT8, 255),
        (2**40, INT32, 0),
        (2**63, UINT64, 2**63),
        (True, INT32, 1),
        ([True], FLOAT32, [1.0]),
        (1.0, COMPLEX64, 1 + 0j),
        (1e6, FLOAT16, float("inf")),
        (np.array([1.5]), INT32, [1]),
        (np.array([1, 2]), FLOAT32, [1.0, 2.0]),
        ([[1, 2], [3, 4]], FLOAT16, [[1, 2], [3, 4]]),
        (np.arange(6).reshape(2, 3).T, INT64, [[0, 3], [1, 4], [2, 5]]),
    ],
)
def test_dtype_asked_for(value, dtype, wanted):
    t = tm.convert(value, dtype)
    assert t._dtype_enum == dtype
    assert np.asarray(t.numpy()).tolist() == wanted


@pytest.mark.parametrize(
    ("value", "dtype", "error", "text"),
    [
        (2**63, 0, ValueError, "out-of-range integer"),
        ([True, 1], 0, ValueError, "mixed types"),
        (["a", 1], 0, ValueError, "mixed types"),
        ([1, "a"], 0, ValueError, "mixed types"),
        ([1, 1j], 0, ValueError, "mixed types"),
        ([[1, 2], [3]], 0, ValueError, "non-rectangular"),
        ([[1], 2], 0, ValueError, "non-rectangular"),
        ([1, [2]], 0, ValueError, "non-rectangular"),
        ([np.array([1, 2]), np.array([3])], 0, ValueError, "non-rectangular"),
        (1.5, INT32, TypeError, "Cannot convert 1.5 to EagerTensor of dtype int32"),
        ([1.5], INT32, TypeError, r"Cannot convert \[1.5\] to EagerTensor of dtype int32"),
        (1, BOOL, TypeError, "Cannot convert 1 to EagerTensor of dtype bool"),
        (1j, FLOAT32, TypeError, "Cannot convert 1j to EagerTensor of dtype float"),
        ("a", INT32, TypeError, "Cannot convert 'a' to EagerTensor of dtype int32"),
        (1, STRING, TypeError, "Cannot convert 1 to EagerTensor of dtype string"),
        (float("nan"), INT32, TypeError, "Cannot convert nan"),
        (None, 0, ValueError, r"Attempt to convert a value \(None\) with an unsupported type"),
        ([None], 0, ValueError, "unsupported type"),
        (object(), 0, ValueError, "unsupported type"),
        ({1, 2}, 0, ValueError, "unsupported type"),
        ({"a": 1}, 0, ValueError, "unsupported type"),
        (1e300, 0, ValueError, "out of range"),
        (np.datetime64("2020-01-01"), 0, ValueError, "Unsupported numpy type"),
        (2**64, UINT64, ValueError, "out-of-range"),
        (1, 77, TypeError, "DType"),
    ],
)
def test_values_that_do_not_fit(value, dtype, error, text):
    before = tm.stats()["live_buffers"]
    with pytest.raises(error, match=text):
        tm.convert(value, dtype)
    gc.collect()
    assert tm.stats()["live_buffers"] == before


def test_tensors_come_back_as_themselves():
    a = tm.convert([1.0])
    assert tm.convert(a) is a
    assert tm.convert(a, FLOAT32) is a
    with pytest.raises(TypeError, match="Expected tensor"):
        tm.convert(a, INT32)
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int32"):
        tm.convert(a, INT32, copy=False)


def test_lists_of_tensors_are_stacked():
    a = tm.convert([1.0, 2.0])
    one = tm.convert(1.0)
    assert tm.convert([a, a]).numpy().tolist() == [[1, 2], [1, 2]]
    assert tm.convert([one, 2]).numpy().tolist() == [1, 2]
    mixed = tm.convert([2, one])
    assert mixed._dtype_enum == FLOAT32 and mixed.numpy().tolist() == [2, 1]
    assert tm.convert([[one, 2], [3, one]]).numpy().tolist() == [[1, 2], [3, 1]]
    assert tm.convert([a, [3.0, 4.0]]).numpy().tolist() == [[1, 2], [3, 4]]


def test_shape_argument():
    assert tm.convert([1, 2, 3, 4], shape=[2, 2]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tm.convert(7, shape=(2, 2)).numpy().tolist() == [[7, 7], [7, 7]]
    assert tm.convert("a", shape=[2]).numpy().tolist() == [b"a", b"a"]
    with pytest.raises(TypeError, match="has 2 elements, but got `shape`"):
        tm.convert([1, 2], shape=[2, 2])


def test_constants_do_not_follow_the_array():
    source = np.arange(4.0)
    t = tm.convert(source)
    source[0] = 99
    assert t.numpy()[0] == 0


def test_arrays_are_shared_when_asked_and_possible():
    source = np.arange(4.0)
    t = tm.convert(source, copy=False)
    assert t._data_address == source.__array_interface__["data"][0]
    read_only = np.arange(3)
    read_only.flags.writeable = False
    assert tm.convert(read_only, copy=False)._read_only
    strided = np.arange(8)[::2]
    assert tm.convert(strided, copy=False).numpy().tolist() == [0, 2, 4, 6]
    skewed = np.frombuffer(bytes(17), dtype=np.uint8)[1:].view(np.float64)
    assert not skewed.flags.aligned
    assert tm.convert(skewed, copy=False).numpy().tolist() == [0, 0]
    fortran = np.asfortranarray(np.arange(6).reshape(2, 3))
    assert tm.convert(fortran, copy=False).numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    broadcast = np.broadcast_to(np.float32(3), (2, 2))
    assert tm.convert(broadcast, copy=False).numpy().tolist() == [[3, 3], [3, 3]]


def test_a_shared_array_lives_as_long_as_the_tensor():
    source = np.arange(1000.0)
    t = tm.convert(source, copy=False)
    borrowed = tm.stats()["borrowed"]
    with pytest.raises(ValueError, match="resize"):
        source.resize(10)
    del source
    gc.collect()
    assert t.numpy()[999] == 999
    assert tm.stats()["borrowed"] == borrowed
    del t
    assert tm.stats()["borrowed"] < borrowed


def test_operators_never_write_into_a_shared_array():
    source = np.ones(4, dtype=np.float32)
    a = tm.convert([1.0, 1.0, 1.0, 1.0])
    result = (a + source) + source
    assert source.tolist() == [1, 1, 1, 1]
    assert result.numpy().tolist() == [3, 3, 3, 3]


class ArrayInterface:
    def __init__(self, **interface):
        self.__array_interface__ = {"version": 3, **interface}


def test_array_interface_is_checked_before_memory_is_touched():
    good = np.arange(6, dtype=np.int32)
    address = good.__array_interface__["data"][0]
    t = tm.convert(ArrayInterface(shape=(2, 3), typestr="<i4", data=(address, False)))
    assert t.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    for lie in (
        {"shape": (2, 3), "typestr": "<i4", "data": (8, False)},
        {"shape": (2**40,), "typestr": "<i4", "data": (address, False)},
        {"shape": (2**62, 2**62), "typestr": "<i4", "data": (address, False)},
        {"shape": (-1,), "typestr": "<i4", "data": (address, False)},
        {"shape": (2,), "typestr": "<i4", "data": (address, False), "strides": (2**45,)},
        {"shape": (2,), "typestr": "<i4", "data": (address, False), "strides": (4, 4)},
        {"shape": (2,), "typestr": "nonsense", "data": (address, False)},
        {"typestr": "<i4", "data": (address, False)},
    ):
        with pytest.raises((ValueError, TypeError)):
            tm.convert(ArrayInterface(**lie))


def exporter(**fields):
    """An object whose buffer says what `fields` say, whether true or not."""

    class View(ctypes.Structure):
        _fields_ = [
            ("buf", ctypes.c_void_p),
            ("obj", ctypes.py_object),
            ("len", ctypes.c_ssize_t),
            ("itemsize", ctypes.c_ssize_t),
            ("readonly", ctypes.c_int),
            ("ndim", ctypes.c_int),
            ("format", ctypes.c_char_p),
            ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
            ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
            ("suboffsets", ctypes.c_void_p),
            ("internal", ctypes.c_void_p),
        ]

    class Slot(ctypes.Structure):
        _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]

    class Spec(ctypes.Structure):
        _fields_ = [
            ("name", ctypes.c_char_p),
            ("basicsize", ctypes.c_int),
            ("itemsize", ctypes.c_int),
            ("flags", ctypes.c_uint),
            ("slots", ctypes.POINTER(Slot)),
        ]

    shape = (ctypes.c_ssize_t * len(fields["shape"]))(*fields["shape"])
    strides = (ctypes.c_ssize_t * len(fields["shape"]))(*fields.get("strides", fields["shape"]))

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(View), ctypes.c_int)
    def get_buffer(self, view, flags):
        v = view.contents
        v.buf = fields.get("buf")
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))
        ctypes.memmove(
            ctypes.addressof(v) + View.obj.offset, ctypes.byref(ctypes.c_void_p(id(self))), 8
        )
        v.len = fields["len"]
        v.itemsize = fields["itemsize"]
        v.readonly = 1
        v.ndim = fields.get("ndim", len(fields["shape"]))
        v.format = fields.get("format", b"f")
        v.shape = None if fields.get("no_shape") else shape
        v.strides = strides if "strides" in fields else None
        v.suboffsets = None
        v.internal = None
        return 0

    slots = (Slot * 2)(Slot(1, ctypes.cast(get_buffer, ctypes.c_void_p)), Slot(0, None))
    spec = Spec(b"tests.Liar", object.__basicsize__, 0, 1 << 18, slots)
    from_spec = ctypes.pythonapi.PyType_FromSpec
    from_spec.restype = ctypes.py_object
    from_spec.argtypes = [ctypes.POINTER(Spec)]
    kind = from_spec(ctypes.byref(spec))
    exporter.alive.append((get_buffer, slots, spec, shape, strides, kind))
    return kind()


exporter.alive = []
MEMORY = ctypes.create_string_buffer(4096)


def test_an_honest_exporter_is_converted():
    ctypes.memmove(MEMORY, np.arange(6, dtype=np.float32).tobytes(), 24)
    honest = exporter(buf=ctypes.addressof(MEMORY), len=24, itemsize=4, shape=(2, 3))
    assert tm.convert(honest).numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    "lie",
    [
        {"buf": None, "len": 24, "itemsize": 4, "shape": (6,)},
        {"len": 24, "itemsize": 4, "shape": (600,)},
        {"len": 24, "itemsize": 4, "shape": (-6,)},
        {"len": 24, "itemsize": 4, "shape": (2**62, 2**62)},
        {"len": -24, "itemsize": 4, "shape": (6,)},
        {"len": 24, "itemsize": 0, "shape": (6,)},
        {"len": 24, "itemsize": -4, "shape": (6,)},
        {"len": 24, "itemsize": 3, "shape": (8,)},
        {"len": 24, "itemsize": 4, "shape": (6,), "ndim": 1000},
        {"len": 24, "itemsize": 4, "shape": (6,), "ndim": -1},
        {"len": 24, "itemsize": 4, "shape": (2, 3), "no_shape": True},
        {"len": 24, "itemsize": 4, "shape": (6,), "format": b"T{f:x:}"},
    ],
)
def test_exporters_that_lie_get_an_error(lie):
    liar = exporter(**{"buf": ctypes.addressof(MEMORY), **lie})
    for copy in (True, False):
        with pytest.raises((ValueError, TypeError, BufferError)):
            tm.convert(liar, copy=copy)


def test_lists_that_change_while_they_are_read():
    class Shrinks:
        def __init__(self, victim):
            self.victim = victim

        def __index__(self):
            del self.victim[1:]
            return 1

    items = [1, 2, 3, 4]
    items[1] = Shrinks(items)
    with pytest.raises(ValueError, match="non-rectangular"):
        tm.convert(items)


def test_a_list_inside_itself():
    items = []
    items.append(items)
    with pytest.raises(ValueError, match="nested"):
        tm.convert(items)


def test_protocol_of_objects_that_convert_themselves():
    class Wrapper:
        def __tf_tensor__(self, dtype=None, name=None):
            return tm.convert([1.0, 2.0])

    assert tm.convert(Wrapper()).numpy().tolist() == [1.0, 2.0]
    assert (tm.convert([1.0, 1.0]) + Wrapper()).numpy().tolist() == [2.0, 3.0]
    assert tm.convert([Wrapper(), [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]
