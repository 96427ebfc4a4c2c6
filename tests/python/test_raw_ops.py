"""``tf.raw_ops``: TensorFlow's results and signatures."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
import raw_op_calls
from flat import assert_flat
from tidemark._tensorflow import unsupported

import tidemark as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "tf_raw_ops.json").read_text())


def close(found, expected):
    if isinstance(expected, list) and any(isinstance(item, (list, str)) for item in expected):
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
    assert len(names) > 1150
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


def test_objects_behind_handles_go_with_them():
    r = tf.raw_ops
    value = np.ones([256, 256], np.float32)

    def round_of_all():
        table = r.MutableHashTableOfTensorsV2(
            key_dtype=tf.int64, value_dtype=tf.float32, value_shape=[256], shared_name="rows"
        )
        r.LookupTableInsertV2(table_handle=table, keys=np.arange(256), values=value)
        queue = r.FIFOQueueV2(component_types=[tf.float32])
        r.QueueEnqueueV2(handle=queue, components=[value])
        stack = r.StackV2(max_size=-1, elem_type=tf.float32)
        r.StackPushV2(handle=stack, elem=value)
        rows = r.TensorListFromTensor(tensor=value, element_shape=[256])
        r.TensorListPushBack(input_handle=rows, tensor=value[0])
        elements = r.TensorSliceDataset(components=[value], output_shapes=[[256]])
        types = {"output_types": [tf.float32], "output_shapes": [[256]]}
        iterator = r.AnonymousIteratorV3(**types)
        r.MakeIterator(dataset=elements, iterator=iterator)
        r.IteratorGetNext(iterator=iterator, **types)

    assert_flat(round_of_all, 200)


def test_handles_of_other_kinds_are_told():
    queue = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32])
    with pytest.raises(tf.errors.InvalidArgumentError, match="refer to a Stack; given FIFOQueue"):
        tf.raw_ops.StackPopV2(handle=queue, elem_type=tf.float32)
    with pytest.raises(TypeError, match="to a handle of dtype resource"):
        tf.raw_ops.QueueSizeV2(handle=3)


def test_texts_keep_zeros_at_their_ends(tmp_path):
    message = tf.raw_ops.HistogramSummary(tag="h", values=[1.0])
    assert message.numpy().endswith(b"\0")
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        assert tf.summary.experimental.write_raw_pb(message, step=1)
    (file,) = tmp_path.iterdir()
    *_, event = tf.compat.v1.train.summary_iterator(str(file))
    assert event.summary.value[0].histo.num == 1
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        text = tf.compat.v1.placeholder(tf.string, [])
        assert session.run(tf.identity(text), {text: b"a\0"}) == b"a\0"
