"""``tf.raw_ops``: TensorFlow's results and signatures."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
import raw_op_calls
from tidemark._tensorflow import unsupported

import tidemark as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "tf_raw_ops.json").read_text())


def close(found, expected):
    if isinstance(expected, list) and expected and isinstance(expected[0], list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            close(one, other)
    elif np.asarray(expected).dtype.kind in "OU":
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("call", raw_op_calls.CALLS, ids=lambda call: call[:60])
def test_results_are_tensorflows(call):
    close(raw_op_calls.run(tf, np, call), RECORDED["results"][call])


def test_signatures_are_tensorflows():
    names = [
        name
        for name in dir(tf.raw_ops)
        if name in RECORDED["signatures"] and unsupported.reason_of(f"tf.raw_ops.{name}") is None
    ]
    assert len(names) > 520
    wrong = {}
    for name in names:
        parameters = list(inspect.signature(getattr(tf.raw_ops, name)).parameters)
        there = RECORDED["signatures"][name]
        theirs = [part.split("=")[0].strip() for part in split(there[1:-1])]
        if parameters != theirs:
            wrong[name] = (parameters, there)
    assert not wrong, wrong


def split(text):
    """The parameters of a signature; commas in brackets and quotes belong to a default."""
    parts, depth = [""], 0
    for sign in text.replace("','", "comma"):
        depth += (sign in "[(") - (sign in "])")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def test_arguments_are_keywords():
    with pytest.raises(TypeError):
        tf.raw_ops.SoftsignGrad([1.0], [2.0])


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'NoSuchOp'"):
        _ = tf.raw_ops.NoSuchOp
