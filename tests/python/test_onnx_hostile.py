"""ONNX nodes whose numbers fit nothing: a typed error each, before anything is listed."""

import numpy as np
import pytest
from test_onnx import load, model_bytes, node, number, piece, tensor, value_info

import tidemark as tf


def attributes(**given):
    out = b""
    for name, value in given.items():
        if isinstance(value, list):
            held = b"".join(number(8, one) for one in value) + number(20, 7)
        else:
            held = number(3, value) + number(20, 2)
        out += piece(5, piece(1, name) + held)
    return out


PICTURE, LINE = [1, 4, 6, 6], [8]
HUGE = 2**62
# Op → the sizes of its first input, further inputs, attributes.
CASES = [
    ("MaxPool", LINE, [], {"kernel_shape": [2]}),
    ("MaxPool", [], [], {"kernel_shape": [2]}),
    ("MaxPool", PICTURE, [], {"kernel_shape": [2, 2], "strides": [0, 1], "ceil_mode": 1}),
    ("AveragePool", PICTURE, [], {"kernel_shape": [2, 2], "dilations": [HUGE, 1], "ceil_mode": 1}),
    ("AveragePool", PICTURE, [], {"kernel_shape": [2, 2], "pads": [HUGE] * 4}),
    ("LpPool", PICTURE, [], {"kernel_shape": [-1, 2]}),
    ("LRN", LINE, [], {"size": 3}),
    ("LRN", PICTURE, [], {"size": 0}),
    ("DepthToSpace", PICTURE, [], {"blocksize": 2**32}),
    ("SpaceToDepth", PICTURE, [], {"blocksize": 0}),
    ("Split", LINE, [], {"num_outputs": 0}),
    ("Split", LINE, [], {"num_outputs": HUGE}),
    ("Slice", LINE, [np.zeros(3, np.int64), np.ones(3, np.int64)], {}),
    ("Col2Im", [1, 4, 9], [np.array([4, 4]), np.array([2, 0])], {}),
    ("Col2Im", [1, 4, 9], [np.array([4, 4]), np.array([2])], {}),
    ("Col2Im", [1, 4, 9], [np.array([4, 4]), np.array([2, 2])], {"strides": [0, 1]}),
    ("Col2Im", [1, 4, 9], [np.array([HUGE, 4]), np.array([2, 2])], {}),
    ("Col2Im", [1, 4, 9], [np.array([4, 4]), np.array([2, 2])], {"pads": [1]}),
    ("DeformConv", PICTURE, [np.ones((4, 4, 1, 1), "f"), np.zeros((1, 2, 6, 6), "f")],
     {"group": 0, "kernel_shape": [1, 1]}),
    ("DeformConv", PICTURE, [np.ones((4, 4, 1, 1), "f"), np.zeros((1, 2, 6, 6), "f")],
     {"offset_group": 0, "kernel_shape": [1, 1]}),
    ("STFT", [1, 8, 1], [np.zeros(0, np.int64)], {}),
    ("STFT", [1, 8, 1], [np.array([1, 2])], {}),
    ("Resize", PICTURE, [np.zeros(0, "f"), np.full(4, 1e30, "f")], {}),
    ("Resize", PICTURE, [np.zeros(0, "f"), np.zeros(0, "f"), np.array([1, 4, HUGE, 6])], {}),
    ("Resize", PICTURE, [np.zeros(0, "f"), np.zeros(0, "f"), np.array([1, 4, -3, 6])], {}),
    ("Resize", [1, 4, 0, 6], [np.zeros(0, "f"), np.zeros(0, "f"), np.array([1, 4, 3, 6])], {}),
    ("AffineGrid", [1, 2, 3], [np.array([1, 1, HUGE, 2])], {}),
    ("RoiAlign", PICTURE, [np.zeros((1, 4), "f"), np.zeros(1, np.int64)],
     {"sampling_ratio": HUGE, "output_height": HUGE}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
def test_numbers_that_fit_nothing_are_refused(tmp_path, case):
    op, sizes, more, given = case
    names = [f"w{i}" for i in range(len(more))]
    weights = [tensor(name, one) for name, one in zip(names, more, strict=True)]
    one = node(op, ["x", *names], ["y"]) + attributes(**given)
    data = model_bytes([one], [value_info("x", sizes)], [value_info("y", ["n"])], weights, 20)
    with pytest.raises(tf.errors.OpError) as caught:
        load(tmp_path, data)(x=np.ones(sizes, np.float32))
    assert op in caught.value.message


def test_an_axis_of_no_number_is_refused(tmp_path):
    empty = tensor("axis", np.zeros(0, np.int64))
    one = node("DFT", ["x", "", "axis"], ["y"])
    data = model_bytes(
        [one], [value_info("x", [1, 8, 1])], [value_info("y", [1, 8, 2])], [empty], 20
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="one number"):
        load(tmp_path, data)(x=np.ones((1, 8, 1), np.float32))


def test_windows_that_fit_are_read(tmp_path):
    one = node("MaxPool", ["x"], ["y"]) + attributes(kernel_shape=[2, 2], strides=[2, 2])
    data = model_bytes([one], [value_info("x", PICTURE)], [value_info("y", [1, 4, 3, 3])], [], 20)
    x = np.arange(144, dtype=np.float32).reshape(PICTURE)
    got = load(tmp_path, data)(x=x)["y"]
    np.testing.assert_array_equal(got, x.reshape(1, 4, 3, 2, 3, 2).max((3, 5)))
