"""tf.DType: names, properties, limits and comparison as in TensorFlow."""

import pickle

import numpy as np
import pytest

import tidemark as tf

NUMPY = {
    tf.float16: np.float16,
    tf.float32: np.float32,
    tf.float64: np.float64,
    tf.int8: np.int8,
    tf.int16: np.int16,
    tf.int32: np.int32,
    tf.int64: np.int64,
    tf.uint8: np.uint8,
    tf.uint16: np.uint16,
    tf.uint32: np.uint32,
    tf.uint64: np.uint64,
    tf.bool: np.bool_,
    tf.complex64: np.complex64,
    tf.complex128: np.complex128,
}


@pytest.mark.parametrize(("dtype", "numpy"), NUMPY.items(), ids=lambda v: getattr(v, "name", ""))
def test_numpy_types_and_names_mean_the_same(dtype, numpy):
    assert dtype.as_numpy_dtype is numpy
    assert dtype == numpy and dtype == np.dtype(numpy) and dtype == dtype.name
    assert tf.as_dtype(numpy) is dtype and tf.as_dtype(np.dtype(numpy)) is dtype
    assert tf.as_dtype(dtype.name) is dtype
    assert dtype.size == np.dtype(numpy).itemsize
    assert tf.zeros([1], dtype).numpy().dtype == numpy


def test_numbers_are_tensorflows():
    expected = {
        "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7,
        "complex64": 8, "int64": 9, "bool": 10, "qint8": 11, "quint8": 12, "qint32": 13,
        "bfloat16": 14, "qint16": 15, "quint16": 16, "uint16": 17, "complex128": 18, "float16": 19,
        "resource": 20, "variant": 21, "uint32": 22, "uint64": 23,
    }  # fmt: skip
    for name, number in expected.items():
        dtype = getattr(tf, name)
        assert (dtype.name, dtype.as_datatype_enum, hash(dtype)) == (name, number, number)
        assert tf.DType(number) == dtype


def test_printing():
    assert repr(tf.float32) == "tf.float32"
    assert str(tf.float32) == "<dtype: 'float32'>"


def test_kinds():
    assert tf.float16.is_floating and tf.bfloat16.is_floating and not tf.complex64.is_floating
    assert tf.int8.is_integer and tf.uint64.is_integer and not tf.bool.is_integer
    assert not tf.string.is_integer and not tf.qint8.is_integer
    assert tf.uint8.is_unsigned and not tf.int8.is_unsigned and not tf.float32.is_unsigned
    assert tf.complex128.is_complex and tf.bool.is_bool and tf.qint8.is_quantized
    assert tf.complex64.real_dtype is tf.float32 and tf.complex128.real_dtype is tf.float64
    assert tf.int32.real_dtype is tf.int32 and tf.float32.base_dtype is tf.float32


def test_limits():
    assert (tf.int8.min, tf.int8.max) == (-128, 127)
    assert tf.uint64.max == 2**64 - 1
    assert tf.float32.max == np.finfo(np.float32).max
    assert type(tf.int8.max) is int and type(tf.float32.max) is np.float32
    assert tf.int8.limits == (0, 127) and tf.float32.limits == (0, 1)
    assert tf.bool.limits == (False, True)
    for dtype in (tf.string, tf.complex64, tf.bool):
        with pytest.raises(TypeError, match="Cannot find minimum value of"):
            _ = dtype.min
    for dtype in (tf.string, tf.complex64):
        with pytest.raises(ValueError, match="does not have defined limits"):
            _ = dtype.limits


def test_comparison_with_anything():
    assert tf.float32 != "foo" and tf.float32 != None and tf.float32 != 3  # noqa: E711
    assert tf.float32 == 1  # TensorFlow's number
    assert tf.int32 in [tf.int64, tf.int32] and {tf.int32: "x"}[tf.int32] == "x"


@pytest.mark.parametrize("value", ["foo", None, int, complex, [1], np.datetime64, 99, object()])
def test_what_is_no_type(value):
    with pytest.raises(TypeError, match="Cannot convert the argument `type_value`"):
        tf.as_dtype(value)


def test_other_spellings():
    assert tf.as_dtype("half") is tf.half is tf.float16
    assert tf.as_dtype("double") is tf.double is tf.float64
    assert tf.as_dtype(float) is tf.float32 and tf.as_dtype(bool) is tf.bool
    assert tf.as_dtype(np.dtype("U5")) is tf.string and tf.as_dtype(object) is tf.string
    assert tf.as_dtype("<f4") is tf.float32
    assert tf.dtypes.float32 is tf.float32 and tf.dtypes.cast is tf.cast


def test_pickle_keeps_identity():
    assert pickle.loads(pickle.dumps(tf.float32)) is tf.float32


def test_bfloat16_is_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert tf.bfloat16.as_numpy_dtype is ml_dtypes.bfloat16
    assert tf.as_dtype(ml_dtypes.bfloat16) is tf.bfloat16
    assert tf.bfloat16.max == float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)
    x = tf.constant([1.5, 2.0], tf.bfloat16)
    assert x.numpy().dtype == ml_dtypes.bfloat16 and x.numpy().tolist() == [1.5, 2.0]
    assert tf.constant(x.numpy()).dtype is tf.bfloat16
