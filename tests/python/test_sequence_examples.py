"""Sequence examples, and examples with ragged partitions or places of their own, eagerly, in
functions and in pipelines; what they give was compared with TensorFlow 2.21."""

import numpy as np
import pytest

import tidemark as tf

io, train = tf.io, tf.train


def ints(*values):
    return train.Feature(int64_list=train.Int64List(value=values))


def floats(*values):
    return train.Feature(float_list=train.FloatList(value=values))


def text(*values):
    return train.Feature(bytes_list=train.BytesList(value=values))


def sequence(tokens):
    lists = {
        "tokens": train.FeatureList(feature=[ints(t) for t in tokens]),
        "pairs": train.FeatureList(feature=[floats(t, 1.0) for t in tokens]),
    }
    context = {"length": ints(len(tokens)), "name": text(b"x%d" % len(tokens))}
    return train.SequenceExample(
        context=train.Features(feature=context),
        feature_lists=train.FeatureLists(feature_list=lists),
    ).SerializeToString()


SHORT, LONG = sequence([1, 2]), sequence([3, 4, 5])
CONTEXT = {"length": io.FixedLenFeature([], tf.int64), "name": io.VarLenFeature(tf.string)}
LISTS = {
    "tokens": io.FixedLenSequenceFeature([], tf.int64),
    "pairs": io.FixedLenSequenceFeature([2], tf.float32),
}


def single(message):
    return io.parse_single_sequence_example(message, CONTEXT, LISTS)


@pytest.mark.parametrize("run", [single, tf.function(single)], ids=["eager", "function"])
def test_one_message(run):
    context, lists = run(tf.constant(LONG))
    assert context["length"] == 3
    np.testing.assert_array_equal(context["name"].values, [b"x3"])
    np.testing.assert_array_equal(context["name"].dense_shape, [1])
    np.testing.assert_array_equal(lists["tokens"], [3, 4, 5])
    np.testing.assert_array_equal(lists["pairs"], [[3, 1], [4, 1], [5, 1]])


def several(messages):
    return io.parse_sequence_example(messages, CONTEXT, LISTS)


@pytest.mark.parametrize("run", [several, tf.function(several)], ids=["eager", "function"])
def test_several_messages_are_filled_up(run):
    context, lists, lengths = run(tf.constant([SHORT, LONG]))
    np.testing.assert_array_equal(context["length"], [2, 3])
    np.testing.assert_array_equal(lists["tokens"], [[1, 2, 0], [3, 4, 5]])
    np.testing.assert_array_equal(
        lists["pairs"], [[[1, 1], [2, 1], [0, 0]], [[3, 1], [4, 1], [5, 1]]]
    )
    np.testing.assert_array_equal(lengths["tokens"], [2, 3])
    np.testing.assert_array_equal(lengths["pairs"], [2, 3])


def test_sparse_and_ragged_lists():
    features = {"tokens": io.VarLenFeature(tf.int64), "pairs": io.RaggedFeature(tf.float32)}
    _, lists, lengths = io.parse_sequence_example([SHORT, LONG], None, features)
    assert lengths == {}
    tokens = lists["tokens"]
    np.testing.assert_array_equal(tokens.values, [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(
        tokens.indices, [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 2, 0]]
    )
    np.testing.assert_array_equal(tokens.dense_shape, [2, 3, 1])
    assert lists["pairs"].to_list() == [[[1, 1], [2, 1]], [[3, 1], [4, 1], [5, 1]]]
    _, one = io.parse_single_sequence_example(LONG, None, features)
    assert one["pairs"].to_list() == [[3, 1], [4, 1], [5, 1]]
    np.testing.assert_array_equal(one["tokens"].dense_shape, [3, 1])


def test_in_a_pipeline():
    data = tf.data.Dataset.from_tensor_slices([SHORT, LONG]).map(lambda m: single(m)[1]["tokens"])
    assert [x.numpy().tolist() for x in data] == [[1, 2], [3, 4, 5]]


def test_what_is_missing_or_wrong():
    wanted = {"other": io.FixedLenSequenceFeature([], tf.int64)}
    with pytest.raises(tf.errors.InvalidArgumentError, match="'other', which is required"):
        io.parse_single_sequence_example(LONG, None, wanted)
    allowed = {"other": io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    assert io.parse_single_sequence_example(LONG, None, allowed)[1]["other"].shape == (0,)
    with pytest.raises(ValueError, match="at least one should have"):
        io.parse_single_sequence_example(LONG)
    for bad in (b"junk", LONG[:-3], b"\xff" * 9):
        with pytest.raises(tf.errors.InvalidArgumentError, match="parse"):
            io.parse_single_sequence_example(bad, CONTEXT, LISTS)
    with pytest.raises(ValueError, match="scalar"):
        io.parse_single_sequence_example([LONG], CONTEXT)
    with pytest.raises(ValueError, match="Unsupported sequence feature"):
        io.parse_single_sequence_example(LONG, None, {"tokens": io.FixedLenFeature([], tf.int64)})


EXAMPLE = train.Example(
    features=train.Features(
        feature={
            "v": floats(1, 2, 3, 4, 5),
            "i": ints(7, 3, 1, 0, 2),
            "j": ints(0, 1, 0, 1, 0),
            "splits": ints(0, 2, 2, 5),
            "lengths": ints(2, 0, 3),
            "limits": ints(2, 2, 5),
            "starts": ints(0, 2, 2),
            "ids": ints(0, 0, 2, 2, 2),
            "outer": ints(1, 2),
        }
    )
).SerializeToString()
ROWS = [[1, 2], [], [3, 4, 5]]
Ragged = io.RaggedFeature


@pytest.mark.parametrize(
    "partition",
    [Ragged.RowSplits("splits"), Ragged.RowLengths("lengths"), Ragged.RowLimits("limits"),
     Ragged.RowStarts("starts"), Ragged.ValueRowIds("ids")],
    ids=lambda p: type(p).__name__,
)  # fmt: skip
def test_ragged_partitions(partition):
    feature = {"v": Ragged(tf.float32, partitions=[partition])}
    assert io.parse_single_example(EXAMPLE, feature)["v"].to_list() == ROWS
    several = tf.function(lambda m: io.parse_example(m, feature)["v"])
    assert several(tf.constant([EXAMPLE, EXAMPLE])).to_list() == [ROWS, ROWS]
    nested = {"v": Ragged(tf.float32, partitions=[Ragged.RowLengths("outer"), partition])}
    assert io.parse_single_example(EXAMPLE, nested)["v"].to_list() == [ROWS[:1], ROWS[1:]]
    assert io.parse_example([EXAMPLE] * 2, nested)["v"].to_list() == [[ROWS[:1], ROWS[1:]]] * 2


def test_uniform_rows():
    feature = {"v": Ragged(tf.float32, partitions=[Ragged.UniformRowLength(5)])}
    assert io.parse_example([EXAMPLE], feature)["v"].to_list() == [[[1, 2, 3, 4, 5]]]


def test_sparse_features():
    feature = {"s": io.SparseFeature("i", "v", tf.float32, 9)}
    for run in (io.parse_single_example, tf.function(io.parse_single_example)):
        found = run(EXAMPLE, feature)["s"]
        np.testing.assert_array_equal(found.indices, [[0], [1], [2], [3], [7]])
        np.testing.assert_array_equal(found.values, [4, 3, 5, 2, 1])
        np.testing.assert_array_equal(found.dense_shape, [9])
    two = {"s": io.SparseFeature(["j", "i"], "v", tf.float32, [2, 9])}
    found = io.parse_example([EXAMPLE], two)["s"]
    np.testing.assert_array_equal(tf.sparse.to_dense(found)[0, 1, :4], [4, 0, 0, 2])
    with pytest.raises(ValueError, match="as many"):
        io.parse_example([EXAMPLE], {"s": io.SparseFeature(["j", "i"], "v", tf.float32, [2])})


def test_features_of_any_length_in_functions():
    features = {
        "v": io.VarLenFeature(tf.float32),
        "i": io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "j": io.RaggedFeature(tf.int64),
    }

    @tf.function
    def parse(messages):
        return io.parse_example(messages, features)

    found = parse(tf.constant([EXAMPLE, EXAMPLE]))
    np.testing.assert_array_equal(found["i"], [[7, 3, 1, 0, 2]] * 2)
    np.testing.assert_array_equal(found["v"].dense_shape, [2, 5])
    assert found["j"].to_list() == [[0, 1, 0, 1, 0]] * 2
    data = tf.data.Dataset.from_tensors(EXAMPLE).map(lambda m: io.parse_single_example(m, features))
    (one,) = data
    np.testing.assert_array_equal(one["i"], [7, 3, 1, 0, 2])
