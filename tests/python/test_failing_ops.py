"""Ops that refuse some values say so in their definition, and those that say so do."""

from __future__ import annotations

import pytest

import tidemark as tf
from tidemark import _tidemark

F, I = tf.float32, tf.int32  # noqa: E741
SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
JPEG = tf.io.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8)).numpy()
CTC_LOGITS = tf.zeros([2, 1, 3])


def ints(*values, dtype=I):
    return tf.constant(list(values), dtype)


def text(*values):
    return tf.constant([bytes(v) for v in values])


def scatter(*rest):
    return tf.zeros([2]), ints(5)[:, None], *rest


# op names: a call of each op that a value makes fail, though all shapes and dtypes fit.
BAD_CALLS = {
    **{op: lambda: ((ints(1), ints(0)), {})
       for op in ("floordiv", "floormod", "truncatediv", "truncatemod")},
    "pow": lambda: ((ints(2), ints(-1)), {}),
    "gather": lambda: ((tf.zeros([2]), ints(5)), {"axis": 0}),
    "gather_nd": lambda: ((tf.zeros([2]), ints(5)[:, None]), {}),
    "gather_grad": lambda: ((ints(5), tf.zeros([1]), ints(2)), {"axis": 0}),
    "gather_nd_grad": lambda: ((ints(5)[:, None], tf.zeros([1]), ints(2)), {}),
    "scatter_nd": lambda: ((ints(5)[:, None], tf.zeros([1]), ints(2)), {}),
    **{f"tensor_scatter_nd_{how}": lambda: (scatter(tf.zeros([1])), {})
       for how in ("update", "add", "sub", "min", "max")},
    **{f"segment_{how}": lambda: ((tf.zeros([2]), ints(1, 0)), {})
       for how in ("sum", "mean", "prod", "min", "max")},
    **{f"unsorted_segment_{how}": lambda: ((tf.zeros([2]), ints(0, 7), tf.constant(2)), {})
       for how in ("sum", "prod", "min", "max")},
    "sparse_softmax_cross_entropy": lambda: ((tf.zeros([1, 3]), ints(7)), {}),
    "sparse_softmax_cross_entropy_grad": lambda: (
        (tf.zeros([1, 3]), ints(7), tf.zeros([1]), tf.zeros([1])), {}),
    "invert_permutation": lambda: ((ints(0, 0),), {}),
    "bincount": lambda: ((ints(-1), tf.constant(2), tf.zeros([0])), {}),
    "band_part": lambda: ((tf.zeros([2, 2]), tf.constant(9), tf.constant(0)), {}),
    "reverse_sequence": lambda: ((tf.zeros([1, 2]), ints(9)), {"seq_axis": 1, "batch_axis": 0}),
    "cholesky": lambda: ((tf.constant([[1.0, 2.0], [2.0, 1.0]]),), {}),
    "triangular_solve": lambda: ((tf.zeros([2, 2]), tf.zeros([2, 1])), {}),
    "matrix_inverse": lambda: ((tf.constant(SINGULAR),), {}),
    "matrix_solve": lambda: ((tf.constant(SINGULAR), tf.zeros([2, 1])), {}),
    "lu": lambda: ((tf.constant(SINGULAR),), {}),
    "tridiagonal_solve": lambda: ((tf.zeros([3, 2]), tf.zeros([2, 1])), {}),
    "ctc_loss": lambda: ((CTC_LOGITS, ints(9)[:, None], ints(1), ints(2)), {}),
    "ctc_loss_grad": lambda: (
        (tf.zeros([1]), CTC_LOGITS, ints(9)[:, None], ints(1), ints(2)), {}),
    "ctc_greedy_decode": lambda: ((CTC_LOGITS, ints(9)), {}),
    "ctc_beam_search_decode": lambda: ((CTC_LOGITS, ints(9)), {}),
    "random_uniform_int": lambda: ((ints(2), tf.constant(3), tf.constant(1)), {}),
    "stateless_random_uniform_int": lambda: (
        (ints(2), ints(1, 2), tf.constant(3), tf.constant(1)), {}),
    "string_substr": lambda: ((text(b"abc"), ints(9), ints(1)), {}),
    "string_to_number": lambda: ((text(b"abc"),), {}),
    "unicode_decode": lambda: ((text(b"\xff"),), {"input_encoding": "UTF-8", "errors": "strict"}),
    "unicode_encode": lambda: (
        (ints(0xD800), ints(0, 1)), {"output_encoding": "UTF-8", "errors": "strict"}),
    "unicode_transcode": lambda: (
        (text(b"\xff"),),
        {"input_encoding": "UTF-8", "output_encoding": "UTF-16-BE", "errors": "strict"}),
    "split_csv": lambda: ((text(b"1,2"),), {"columns": 3}),
    "decode_base64": lambda: ((text(b"?"),), {}),
    "parse_tensor": lambda: ((tf.constant(b"?"),), {"out_type": F}),
    "parse_example_fixed": lambda: (
        (text(b"?"), tf.zeros([1])), {"key": "x", "dense_shape": [1]}),
    "parse_example_var": lambda: ((text(b"?"),), {"key": "x", "dtype": F}),
    "read_file": lambda: ((tf.constant("/nowhere/at all"),), {}),
    "decode_image_file": lambda: ((tf.constant(JPEG[:-40]),), {}),
    "extract_jpeg_shape": lambda: ((tf.constant(b"?"),), {}),
    "decode_wav": lambda: ((tf.constant(b"RIFF"),), {}),
    "decode_compressed": lambda: ((text(b"?"),), {"compression_type": "ZLIB"}),
}  # fmt: skip


def marked():
    """Ops that say that they may fail."""
    return {schema["name"] for schema in _tidemark.list_ops() if schema["may_fail"]}


@pytest.mark.parametrize("op", sorted(BAD_CALLS))
def test_an_op_that_fails_on_values_says_so(op):
    inputs, attrs = BAD_CALLS[op]()
    with pytest.raises(tf.errors.OpError):
        _tidemark.call(op, inputs, attrs)
    assert op in marked()


def test_a_table_that_refuses_another_value_says_so():
    keys = tf.constant([1, 1], tf.int64)
    made = tf.lookup.StaticHashTable  # it fills itself by table_insert
    with pytest.raises(tf.errors.InvalidArgumentError, match="different value"):
        made(tf.lookup.KeyValueTensorInitializer(keys, tf.constant([1, 2], tf.int64)), -1)
    assert "table_insert" in marked()


def test_every_op_that_says_so_is_seen_to_fail():
    assert marked() == {*BAD_CALLS, "table_insert"}


def test_failing_ops_are_not_fused_and_fail_in_functions():
    @tf.function
    def f(x, y):
        return (x // y) * 2 + x

    for _ in range(3):
        assert f(ints(5), ints(2)).numpy().tolist() == [9]
    with pytest.raises(tf.errors.InvalidArgumentError, match="by zero"):
        f(ints(5), ints(0))
