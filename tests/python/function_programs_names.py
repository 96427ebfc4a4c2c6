"""More of them: names that programs and tests written for TensorFlow look for."""

import os
import tempfile
import threading

import numpy as np
from function_programs import error_of, program, tf

v1 = tf.compat.v1


@program
def what_creators_of_variables_are_given():
    seen = []

    def creator(next_creator, **kwargs):
        seen.append(sorted(kwargs))
        kwargs["initial_value"] = 5.0
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        variable = tf.Variable(1.0, trainable=False, name="v")
    return [seen, variable, variable.trainable, variable.name]


@program
def arrays_as_messages():
    out = []
    for values, options in (
        ([1.0, 2.0], {}), (3, {}), ([[True], [False]], {}), (["a", "bc"], {}),
        ([1, 2], {"dtype": tf.int64, "shape": [2, 1]}), (7, {"shape": [2, 2]}), ([], {}),
    ):  # fmt: skip
        made = tf.make_tensor_proto(values, **options)
        sizes = [dim.size for dim in made.tensor_shape.dim]
        array = tf.make_ndarray(made)
        out.append([made.dtype, sizes, made.tensor_content.hex(), str(array.dtype), array])
    refused = [
        error_of(tf.make_tensor_proto, [1, 2, 3], shape=[2]),
        error_of(tf.make_tensor_proto, [1, 2], shape=[2, 1], verify_shape=True),
    ]
    return [*out, refused]


@program
def fingerprints_of_rows():
    long = [b"x" * n for n in (0, 3, 8, 17, 40, 90, 200)]
    rows = [tf.fingerprint(long), tf.fingerprint([[1, 2], [3, 4]]), tf.fingerprint([[b"a", b"b"]])]
    rows.append(tf.fingerprint(np.arange(24, dtype=np.float64).reshape(2, 3, 4)))
    return [*rows, error_of(tf.fingerprint, 1), tf.function(tf.fingerprint)(tf.constant([1, 2]))]


@program
def critical_sections():
    section, count = tf.CriticalSection(name="counting"), tf.Variable(0)

    def raised():
        value = count.read_value()
        return count.assign(value + 1)

    function = tf.function(lambda: section.execute(raised))
    threads = [threading.Thread(target=lambda: [function() for _ in range(10)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    eager = section.execute(lambda: (tf.constant(1) + 1, tf.constant("a")))
    scaled = tf.function(lambda x: section.execute(lambda: {"twice": x * 2}))
    return [count, eager, scaled(tf.constant([1, 2])), isinstance(section, tf.CriticalSection)]


@program
def elements_that_another_vector_lacks():
    pairs = [
        ([1, 2, 3, 4, 5, 6, 2], [1, 3, 5]),
        (["b", "a", "b"], ["c"]),
        ([1, 1], [1]),
        ([], [1.0]),
    ]
    out = [tuple(v1.setdiff1d(x, y)) for x, y in pairs]
    wide = v1.setdiff1d([1, 2], [1], index_dtype=tf.int64)
    return [*out, wide.out, wide.idx.dtype.name, tuple(tf.function(v1.setdiff1d)([1, 2, 3], [2]))]


@program
def tensors_and_sparse_tensors_as_they_are():
    convert = v1.convert_to_tensor_or_sparse_tensor
    sparse = convert(tf.SparseTensor([[0]], [1], [2]))
    value = convert(v1.SparseTensorValue([[0]], [1], [2]))
    kinds = [isinstance(made, tf.SparseTensor) for made in (sparse, value)]
    return [convert([1, 2]), *kinds, error_of(convert, sparse, dtype=tf.float32)]


@program
def records_one_by_one():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "records")
        with tf.io.TFRecordWriter(path) as writer:
            writer.write(b"abc")
            writer.write(b"de")
        return [list(v1.io.tf_record_iterator(path)), list(v1.python_io.tf_record_iterator(path))]


@program
def folders_for_tests():
    folder = v1.test.get_temp_dir()
    return [os.path.isdir(folder), folder == v1.test.get_temp_dir()]


@program
def tracebacks_filtered_or_not():
    states = [tf.debugging.is_traceback_filtering_enabled()]
    tf.debugging.disable_traceback_filtering()
    states.append(tf.debugging.is_traceback_filtering_enabled())
    tf.debugging.enable_traceback_filtering()
    return [*states, tf.debugging.is_traceback_filtering_enabled()]


@program
def quotients_of_integers_without_nan():
    out = []
    for dtype in (tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.float32, tf.float64):
        x, y = tf.constant([1, 2, 3], dtype), tf.constant([0, 1, 2], dtype)
        result = tf.math.divide_no_nan(x, y)
        out.append([result.dtype.name, result])
    out += [tf.math.divide_no_nan(5, 2), tf.math.divide_no_nan(tf.constant([1.0, 2.0]), 0)]
    mixed = error_of(tf.math.divide_no_nan, tf.constant(1), tf.constant(1.0))
    return [*out, mixed, tf.function(tf.math.divide_no_nan)(tf.constant(7), tf.constant(2))]


@program
def operators_that_can_be_overloaded():
    return sorted(tf.Tensor.OVERLOADABLE_OPERATORS)


@program
def elements_picked_by_short_integers():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    indices, points = tf.constant([1, 0, 1], tf.int16), tf.constant([[1, 0], [0, 1]], tf.int16)
    out = [tf.gather(x, indices), tf.gather(x, indices, axis=1), tf.gather_nd(x, points)]
    out += [error_of(tf.gather, x, tf.constant([1], dtype)) for dtype in (tf.int8, tf.uint8)]
    return [*out, error_of(tf.gather, x, tf.constant([2], tf.int16))]
