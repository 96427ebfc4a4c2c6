"""More programs: states that iterators and checkpoints hold, and what is refused."""

import os
import tempfile

import numpy as np
from function_programs import error_of, program, tf

# --- datasets -------------------------------------------------------------------------------------


@program
def datasets_as_elements():
    parts = [tf.data.Dataset.range(n) for n in (2, 0, 3)]
    joined = tf.data.Dataset.from_tensor_slices(parts).flat_map(lambda part: part)
    return [int(x) for x in joined]


def _sparse(number):
    return tf.SparseTensor([[0, number % 2]], [number * 1.0], [1, 2])


@program
def states_of_composites():
    data = tf.data.Dataset.from_tensors(_sparse(3)).repeat(2)

    def added(state, value):
        return state[0] + 1, tf.sparse.add(state[1], value)

    count, total = data.reduce((np.int64(0), _sparse(1)), added)

    @tf.function
    def inside():
        return data.reduce((np.int64(0), _sparse(1)), lambda s, v: (s[0] + 1, v))

    inner_count, last = inside()
    return [int(count), tf.sparse.to_dense(total), int(inner_count), tf.sparse.to_dense(last),
            error_of(tf.data.Dataset.range(3).reduce, 0, lambda state, value: ())]  # fmt: skip


def _error_of_batches(generator):
    spec = tf.TensorSpec([None], tf.float32)
    try:
        list(tf.data.Dataset.from_generator(generator, output_signature=spec).batch(3))
    except tf.errors.InvalidArgumentError as error:
        wanted = ("Cannot batch tensors with different shapes in component 0. First element had "
                  "shape [1] and element 2 had shape [2].")  # fmt: skip
        return wanted in str(error)


@program
def batches_of_several_shapes():
    return _error_of_batches(lambda: iter([[1.0], [2.0], [3.0, 4.0]]))


def _saved(data):
    """What saving an iterator over it ends with, after an element."""
    iterator = iter(data)
    next(iterator)
    with tempfile.TemporaryDirectory() as folder:
        return error_of(tf.train.Checkpoint(iterator=iterator).save, os.path.join(folder, "at"))


@program
def iterators_over_what_they_do_not_save():
    counter = tf.Variable(0, dtype=tf.int64)
    numbers = tf.data.Dataset.range(5)
    ignoring = tf.data.Options()
    ignoring.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    drawn = numbers.map(lambda x: x + tf.random.uniform([], 0, 9, tf.int64))
    return [
        _saved(numbers.map(lambda x: x + 1)),
        _saved(drawn),
        _saved(drawn.batch(2)),
        _saved(numbers.filter(lambda x: counter.assign_add(1) > x)),
        _saved(numbers.map(lambda x: x + counter)),
        _saved(drawn.with_options(ignoring)),
        _saved(numbers.map(lambda x: tf.random.stateless_uniform([], [1, x]))),
    ]


# --- checkpoints ----------------------------------------------------------------------------------


@program
def checkpoints_written_by_functions():
    with tempfile.TemporaryDirectory() as folder:
        variable = tf.Variable(1.0)
        checkpoint = tf.train.Checkpoint(v=variable)

        @tf.function
        def write(prefix):
            return checkpoint.write(prefix)

        out = []
        for number in (1.0, 2.0):
            variable.assign(number)
            path = os.path.join(folder, "at")
            write(tf.constant(path))
            read = tf.Variable(0.0)
            tf.train.Checkpoint(v=read).read(path).assert_consumed()
            out.append(float(read))
        return [*out, error_of(write, tf.constant(os.path.join(folder, "missing", "at")))]


@program
def arguments_of_checkpoints():
    holder = tf.Module()
    holder.v = tf.Variable(1.0)
    other = tf.Variable(2.0)
    called = []
    with tempfile.TemporaryDirectory() as folder:
        options = tf.train.CheckpointOptions(
            experimental_write_callbacks=[lambda: called.append(0), lambda p: called.append(1)]
        )
        tf.train.Checkpoint(holder).write(os.path.join(folder, "at"), options)
    return [
        error_of(tf.train.Checkpoint, holder, v=other),
        error_of(tf.train.Checkpoint, holder, v=holder.v),
        error_of(tf.train.CheckpointOptions, experimental_write_callbacks=[lambda a, b: None]),
        called,
    ]


# --- what is refused ------------------------------------------------------------------------------


@program
def dtypes_that_operations_do_not_take():
    text = tf.constant("a")
    inside = tf.function(lambda x: tf.bitwise.invert(x))
    try:
        inside(text)
    except TypeError as error:
        words = "string" in str(error)
    return [
        words,
        error_of(tf.bitwise.invert, text),
        error_of(inside, text),
        error_of(tf.gather, [1, 2], [1.0]),
        error_of(tf.function(tf.gather), tf.constant([1, 2]), tf.constant([1.0])),
    ]


@program
def masks_that_do_not_fit():
    return [
        error_of(tf.boolean_mask, [1, 2, 3, 4], [[True, True], [False, False]]),
        error_of(tf.boolean_mask, 1, True),
        error_of(tf.boolean_mask, [[1, 2], [3, 4]], [True, True, True]),
    ]


@program
def rows_that_are_too_few():
    ids = tf.constant([0, 0, 2], tf.int64)
    return [
        error_of(tf.RaggedTensor.from_value_rowids, [1, 2, 3], ids, nrows=2),
        error_of(tf.RaggedTensor.from_row_splits, [], []),
    ]


@program
def scopes_of_devices_that_cross():
    outer = tf.device("/CPU:0")
    outer.__enter__()
    with tf.device(None):
        crossed = error_of(outer.__exit__, None, None, None)
    outer.__exit__(None, None, None)
    return [crossed, error_of(tf.device, lambda op: "/CPU:0")]


# --- beside other kinds of arrays -----------------------------------------------------------------


@program
def sparse_factors_on_the_right():
    sparse = tf.sparse.from_dense([[1.0, 0.0], [0.0, -4.0]])
    found = tf.constant([[2.0, 3.0], [4.0, 5.0]]) * sparse
    return tf.sparse.to_dense(found)


@program
def tensors_as_shapes_of_arrays():
    return [list(np.zeros(tf.constant(sizes, tf.int32)).shape) for sizes in ([2, 3], [], [1])]


@program
def summaries_at_once():
    summary = tf.compat.v1.summary
    made = summary.histogram("h", tf.constant([1, 2, 3]))
    return [made.dtype.name, made.shape.as_list(), len(made.numpy()) > 0]
