"""More programs about graphs and sessions: sparse and ragged tensors in what is fetched and fed,
TensorFlow 1's functions of strings, ragged lookups and reductions, elements of datasets by index.
See session_programs.py."""

import numpy as np
from session_programs import error_of, program, session, tf, v1

ROWS = [[1, 2], [], [3, 4, 5]]
DEEP = [[[1, 2], [3]], [], [[4, 5, 6]]]


def listed(value):
    return value.to_list() if hasattr(value, "to_list") else np.asarray(value).tolist()


@program
def composites_in_fetches():
    with session() as sess:
        ragged = tf.ragged.constant(DEEP)
        sparse = tf.sparse.from_dense([[0, 7], [8, 0]])
        table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        (slices,) = tf.gradients(tf.gather(table, [1, 1]), table)
        found = sess.run({"a": [ragged, sparse], "b": slices, "c": tf.constant(1)})
        deep, flat = found["a"]
        return [
            type(deep).__name__, deep.to_list(), deep.shape, deep.ragged_rank, str(deep),
            [s.tolist() for s in deep.nested_row_splits], deep.flat_values, deep.dtype.name,
            type(flat).__name__, flat.indices, flat.values, flat.dense_shape,
            type(found["b"]).__name__, found["b"].indices, found["b"].values, found["c"],
        ]  # fmt: skip


@program
def ragged_placeholders():
    with session() as sess:
        fed = v1.ragged.placeholder(tf.int32, 2)
        total = tf.reduce_sum(fed, axis=2)
        value = v1.ragged.constant_value(DEEP, np.int32)
        return [
            listed(sess.run(total, {fed: value})), repr(value.shape), value.to_list(),
            error_of(v1.ragged.constant_value, [[1]], row_splits_dtype="int8"),
            [type(error).__name__ for error in _bad_values()],
        ]  # fmt: skip


def _bad_values():
    kind = v1.ragged.RaggedTensorValue
    for values, splits in (
        (np.array([1]), [0, 1]),
        ([1], np.array([0, 1])),
        (np.array([1]), np.array([0.0, 1.0])),
    ):
        try:
            kind(values, splits)
        except (TypeError, ValueError) as error:
            yield error


@program
def strings_of_tensorflow_1():
    split = v1.string_split(["a b", "", " c  d"])
    at = v1.string_split(["a,b;c"], ",;", skip_empty=False, result_type="RaggedTensor")
    pieces = v1.strings.split(["x y", "z"])
    return [
        split.indices, split.values, split.dense_shape, at.to_list(),
        v1.string_split(["abc"], delimiter="").values, pieces.values, pieces.dense_shape,
        v1.strings.split(["x--y"], sep="--", result_type="RaggedTensor").to_list(),
        v1.reduce_join([["a", "b"], ["c", "d"]], reduction_indices=0, separator="+"),
        v1.reduce_join([["a", "b"], ["c", "d"]], keep_dims=True),
        v1.substr(["hello"], 1, 3), v1.strings.length(["abcd"]), v1.string_to_number("2.5"),
        error_of(v1.strings.split, ["a"], result_type="Other"),
    ]  # fmt: skip


@program
def ragged_lookups():
    rows = tf.ragged.constant([["a", "b"], ["c"], ["d", "e", "f"]])
    deep = tf.ragged.constant([[["a", "b"], ["c"]], [["d", "e", "f"]]])
    dense = tf.constant([["a", "b", "c"], ["d", "e", "f"]])
    index = tf.ragged.constant([[0], [0, 2]])
    return [
        listed(tf.gather(rows, [2, 0])), listed(tf.gather(rows, [[0, 1], [2, 2]])),
        listed(tf.gather(rows, 1)), listed(tf.gather(tf.constant(["p", "q", "r"]), index)),
        listed(tf.gather(rows, tf.ragged.constant([[0, 2], [1]]))),
        listed(tf.gather(dense, index, batch_dims=1)),
        listed(tf.gather(rows, tf.ragged.constant([[1], [0, 0], [2]]), batch_dims=1)),
        listed(tf.gather(rows, tf.constant([1, 0, 2]), batch_dims=1)),
        listed(tf.gather(deep, [0], axis=2)),
        listed(tf.gather(rows[::2], [1, 0], axis=1)),
    ]  # fmt: skip


@program
def ragged_reductions():
    out = []
    rows, deep = tf.ragged.constant(ROWS), tf.ragged.constant(DEEP)
    for reduce in (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.math.reduce_variance,
                   tf.math.reduce_std):  # fmt: skip
        out += [listed(reduce(rows)), listed(reduce(rows[::2], axis=1))]
        out += [listed(reduce(rows, axis=0)), listed(reduce(rows, keepdims=True))]
    for axis in range(3):
        out.append(listed(tf.reduce_sum(deep, axis=axis, keepdims=True)))
    out += [tf.reduce_mean(rows).dtype.name, listed(tf.reduce_sum(deep, axis=[-2, -1]))]
    return [*out, error_of(tf.reduce_sum, rows, ["x"])]


@program
def elements_by_index():
    at = tf.data.experimental.at
    numbers = tf.data.Dataset.range(10)
    pairs = tf.data.Dataset.zip((numbers, numbers.map(lambda x: x * x))).batch(4)
    out = [at(numbers, i) for i in (0, 9)] + [at(pairs, 2), at(numbers.skip(3), 1)]
    out += [error_of(at, numbers, i) for i in (-1, 10)]
    with session() as sess:
        return [*out, sess.run(at(tf.data.Dataset.range(5), 3))]


@program
def evaluation_in_tests():
    case = tf.test.TestCase()
    case.setUp()
    out = [
        case.evaluate(tf.constant("text")),
        type(case.evaluate(tf.constant("text"))).__name__,
        type(case.evaluate(tf.ragged.constant(ROWS))).__name__,
        case.evaluate(lambda: tf.constant(3)),
        case.evaluate({"a": [tf.constant(1), None]}),
    ]
    with case.cached_session() as sess:
        out.append(sess.run(tf.constant(2)))
    with tf.Graph().as_default():
        with case.cached_session() as first:
            kept = v1.Variable(1.0)
            case.evaluate(kept.initializer)
            case.evaluate(v1.assign_add(kept, 2.0))
        with case.cached_session() as second:
            out += [first is second, case.evaluate(kept)]
            case.assertAllEqual(tf.ragged.constant(ROWS), ROWS)
            case.assertAllClose(tf.constant([1.0]) * 2, [2.0])
        out += [case.evaluate(kept), tf.inside_function()]  # outside of the block, too
    case.tearDown()
    return [*out, tf.inside_function(), tf.function(lambda: tf.constant(tf.inside_function()))()]
