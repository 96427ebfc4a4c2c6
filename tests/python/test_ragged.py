"""Ragged tensors: gradients, iteration, printing, errors. Values are in test_tf_results.py."""

import numpy as np
import pytest

import tidemark as tf

ROWS = [[1.0, 2.0, 3.0], [], [4.0, 5.0]]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda r: r.to_tensor(), [1, 1, 1, 1, 1]),
        (lambda r: tf.reduce_sum(r * r, axis=1), [2, 4, 6, 8, 10]),
        (lambda r: tf.reduce_mean(r, axis=1)[::2], [1 / 3] * 3 + [1 / 2] * 2),
        (lambda r: tf.reduce_max(r, axis=1)[::2], [0, 0, 1, 0, 1]),
        (lambda r: tf.concat([r, r], axis=1).flat_values, [2, 2, 2, 2, 2]),
        (lambda r: r[:, :1].flat_values, [1, 0, 0, 1, 0]),
        (lambda r: tf.gather(r, [2, 2]).flat_values, [0, 0, 0, 2, 2]),
        (lambda r: (r * tf.constant([[1.0], [2.0], [3.0]])).flat_values, [1, 1, 1, 3, 3]),
    ],
)
def test_gradients_reach_the_values(function, expected):
    values = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        loss = tf.reduce_sum(function(tf.RaggedTensor.from_row_lengths(values, [3, 0, 2])))
    gradient = tf.convert_to_tensor(tape.gradient(loss, values))
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def test_iterates_over_rows():
    rows = list(tf.ragged.constant(ROWS))
    assert [row.numpy().tolist() for row in rows] == ROWS
    assert len(tf.ragged.constant(ROWS)) == 3


def test_becomes_numpy():
    array = tf.ragged.constant(ROWS).numpy()
    assert array.dtype == object and [row.tolist() for row in array] == ROWS
    same = tf.ragged.constant([[1, 2], [3, 4]]).numpy()
    np.testing.assert_array_equal(same, [[1, 2], [3, 4]])


def test_rows_of_one_length_do_not_become_dense_by_themselves():
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0, 4.0]])
    assert isinstance(ragged + 1.0, tf.RaggedTensor)
    assert isinstance(tf.square(ragged), tf.RaggedTensor)
    with pytest.raises(ValueError, match="to_tensor"):
        tf.convert_to_tensor(ragged)
    with pytest.raises(ValueError, match="to_tensor"):
        tf.linalg.det(ragged)


def test_printed_as_lists():
    assert str(tf.ragged.constant([[1], []])) == "<tf.RaggedTensor [[1], []]>"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 3]), "hold 3 values, but 2"),
        (lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 2, 1]), "must not fall"),
        (lambda: tf.RaggedTensor.from_row_splits([1, 2], [1, 2]), "start with 0"),
        (lambda: tf.RaggedTensor.from_value_rowids([1, 2], [1, 0]), "must not fall"),
        (lambda: tf.RaggedTensor.from_uniform_row_length([1, 2, 3], 2), "rows of length 2"),
        (
            lambda: tf.ragged.constant([[1]]) + tf.ragged.constant([[1, 2]]),
            "different rows",
        ),
    ],
)
def test_bad_rows_are_refused(make, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        make()


def test_an_index_inside_of_rows_is_refused():
    with pytest.raises(ValueError, match="inner ragged dimension"):
        tf.ragged.constant(ROWS)[:, 0]
    with pytest.raises(ValueError, match="private"):
        tf.RaggedTensor([1, 2])


def test_row_partition():
    rows = tf.experimental.RowPartition.from_row_lengths([2, 0, 1])
    assert rows.row_splits().numpy().tolist() == [0, 2, 2, 3]
    assert rows.value_rowids().numpy().tolist() == [0, 0, 2]
    assert rows.offsets_in_rows().numpy().tolist() == [0, 1, 0]
    assert int(rows.nrows()) == 3 and int(rows.nvals()) == 3
    uniform = tf.experimental.RowPartition.from_uniform_row_length(2, nvals=6)
    assert uniform.is_uniform() and int(uniform.nrows()) == 3
    assert uniform.static_uniform_row_length == 2


def test_random_rows_survive_every_road():
    rng = np.random.default_rng(3)
    for _ in range(20):
        rows = [rng.integers(0, 9, rng.integers(0, 5)).tolist() for _ in range(rng.integers(1, 6))]
        ragged = tf.ragged.constant(rows, dtype=tf.int32)
        assert ragged.to_list() == rows
        again = tf.RaggedTensor.from_tensor(ragged.to_tensor(), lengths=ragged.row_lengths())
        assert again.to_list() == rows
        assert tf.RaggedTensor.from_sparse(ragged.to_sparse()).to_list() == rows
        backwards = ragged[::-1, ::-1].to_list()
        assert backwards == [row[::-1] for row in rows[::-1]]
        begin, end = sorted(rng.integers(-5, 5, 2).tolist())
        assert ragged[:, begin:end].to_list() == [row[begin:end] for row in rows]


def test_dense_and_sparse_in_a_function_that_does_not_know_the_rows():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def words(lines):
        rows = tf.strings.split(lines)
        cut = rows.to_tensor(default_value="-", shape=[None, 2])
        return rows.to_tensor(), cut, rows.to_sparse().dense_shape, rows.bounding_shape()

    whole, cut, sparse, bounds = words(tf.constant(["a b c", "", "d"]))
    assert whole.numpy().tolist() == [[b"a", b"b", b"c"], [b"", b"", b""], [b"d", b"", b""]]
    assert cut.numpy().tolist() == [[b"a", b"b"], [b"-", b"-"], [b"d", b"-"]]
    assert sparse.numpy().tolist() == bounds.numpy().tolist() == [3, 3]
    assert words(tf.constant([], tf.string))[1].shape == (0, 2)
    assert words.get_concrete_function().structured_outputs[1].shape.as_list() == [None, 2]


def test_inner_sizes_known_late_reach_the_dense_shape():
    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None, None], ragged_rank=1)])
    def dense(rows):
        return rows.to_tensor(default_value=-1.0)

    rows = tf.RaggedTensor.from_row_lengths([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [2, 0, 1])
    expected = [[[1, 2], [3, 4]], [[-1, -1], [-1, -1]], [[5, 6], [-1, -1]]]
    assert dense(rows).numpy().tolist() == expected


@pytest.mark.parametrize(
    "arguments", [{}, {"lengths": [1, 2]}, {"padding": 0.0}, {"ragged_rank": 2}], ids=str
)
def test_rows_of_a_dense_tensor_whose_sizes_are_known_late(arguments):
    def rows(x):
        return tf.RaggedTensor.from_tensor(x, **arguments)

    x = tf.reshape(tf.range(12.0), [2, 3, 2]) * [[[1.0], [1.0], [0.0]]]
    late = tf.function(rows, input_signature=[tf.TensorSpec([None, None, None])])
    assert late(x).to_list() == rows(x).to_list()


def test_map_fn_goes_over_the_rows_of_ragged_tensors():
    x = tf.ragged.constant([[1.0, 2.0], [], [3.0]])

    def totals(x):
        return tf.map_fn(tf.reduce_sum, x, fn_output_signature=tf.float32)

    assert totals(x).numpy().tolist() == tf.function(totals)(x).numpy().tolist() == [3.0, 0.0, 3.0]
