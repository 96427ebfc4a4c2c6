"""Tensors print exactly as TensorFlow prints them (recorded from it)."""

import json
from pathlib import Path

import numpy as np
import pytest

import tidemark as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "tf_printing.json").read_text())


@pytest.mark.parametrize(("expression", "as_repr", "as_str"), RECORDED, ids=lambda v: v[:40])
def test_as_tensorflow(expression, as_repr, as_str):
    if "bfloat16" in expression:
        pytest.importorskip("ml_dtypes")
    tensor = eval(expression, {"tf": tf, "np": np})
    assert repr(tensor) == as_repr
    assert str(tensor) == as_str


def test_long_tensors_are_shortened():
    assert str(tf.range(2000)) == (
        "tf.Tensor([   0    1    2 ... 1997 1998 1999], shape=(2000,), dtype=int32)"
    )
    assert len(repr(tf.zeros([300, 300, 2]))) < 2000


def test_format():
    assert f"{tf.constant(1.5):.3f}" == "1.500" and f"{tf.constant(1.5)}" == "1.5"
    assert f"{tf.constant([1.5, 2])}" == "[1.5 2. ]"
    assert f"{tf.constant(7):03d}" == "007"
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{tf.constant([1.5, 2]):.3f}"


def test_of_tensors_in_lists():
    assert repr([tf.constant(1)]) == "[<tf.Tensor: shape=(), dtype=int32, numpy=1>]"
