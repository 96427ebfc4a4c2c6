"""More of them: ragged and sparse tensors in gradients, loops and maps."""

import numpy as np
from function_programs import error_of, program, tf


def parts(value):
    """What kind of value it is, and what it holds."""
    if isinstance(value, tf.RaggedTensor):
        return ["ragged", value.to_list()]
    if isinstance(value, tf.SparseTensor):
        return ["sparse", value.indices, value.values, value.dense_shape]
    if isinstance(value, tf.IndexedSlices):
        return ["slices", value.indices, value.values]
    return ["dense", value]


@program
def gradients_by_ragged_tensors():
    ragged = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [2.0, 3.0], [3, 2])
    out = []
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([ragged, sparse])
        squared = ragged * ragged
        total = tf.reduce_sum(squared) + tf.reduce_sum(sparse.values) * 2.0
        halves = sparse.values * 0.5
    found = tape.gradient(total, [ragged, sparse.values])
    out += [parts(one) for one in found]
    out.append(parts(tape.gradient(squared, ragged)))
    out.append(parts(tape.gradient(squared, ragged, output_gradients=ragged)))
    out.append(parts(tape.gradient(halves, sparse.values)))
    out.append(tape.gradient(halves, ragged))
    both = tape.gradient({"a": total, "b": squared}, {"r": ragged})
    return [*out, sorted(both), parts(both["r"]), error_of(tape.gradient, total, sparse)]


@program
def gradients_of_gradients_by_ragged_tensors():
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as outer:
        outer.watch(ragged)
        with tf.GradientTape() as inner:
            inner.watch(ragged)
            cubed = ragged * ragged * ragged
        first = inner.gradient(cubed, ragged)
    return [parts(first), parts(outer.gradient(first, ragged))]


@program
def gradients_by_ragged_tensors_in_functions():
    @tf.function
    def by(ragged, sparse):
        with tf.GradientTape() as tape:
            tape.watch((ragged, sparse))
            total = tf.reduce_sum(ragged * 3.0) + tf.reduce_sum(sparse.values**2)
        return tape.gradient(total, (ragged, sparse.values))

    sparse = tf.SparseTensor([[1]], [2.0], [3])
    return [parts(one) for one in by(tf.ragged.constant([[1.0], [2.0, 3.0]]), sparse)]


@program
def static_values_of_variables():
    variable = tf.Variable(1.0)
    message = tf.make_tensor_proto("foo")
    array = tf.make_ndarray(message)
    return [tf.get_static_value(variable), tf.get_static_value(3), str(array.dtype), array]


@program
def element_types_by_name_and_number():
    out = []
    for number in (*range(1, 34), 101, 103, 107, 114, 123):
        dtype = tf.dtypes.DType(number)
        out.append([number, dtype.name, repr(dtype), str(dtype), dtype.size, dtype.base_dtype.name])
        flags = ["floating", "integer", "unsigned", "complex", "bool", "numeric", "quantized"]
        out.append([getattr(dtype, "is_" + flag) for flag in flags])
        out.append([tf.as_dtype(number) == dtype, tf.as_dtype(dtype.name) is tf.as_dtype(number)])
        if number not in (20, 21):
            numpy = dtype.as_numpy_dtype
            out.append([np.dtype(numpy).name, tf.as_dtype(numpy) == dtype.base_dtype])
            for what in ("min", "max", "limits"):
                out.append(error_of(getattr, dtype, what) or float(np.max(getattr(dtype, what))))
    small = tf.dtypes.experimental
    names = [small.float8_e5m2, small.float8_e4m3fn, small.int4, small.uint4, small.int2]
    out.append([dtype.name for dtype in names])
    out.append(error_of(tf.dtypes.DType, 0) or error_of(tf.dtypes.DType, 90))
    pairs = [(tf.float32, tf.as_dtype("float32_ref")), (tf.as_dtype(101), tf.float32)]
    out += [[a.is_compatible_with(b), a == b, a.is_subtype_of(b)] for a, b in pairs]
    return [*out, tf.float32.most_specific_common_supertype([tf.int32])]


@program
def maps_to_and_from_composites():
    ragged = tf.ragged.constant([[1, 2], [3], []])
    deeper = tf.ragged.constant([[[1], [2, 3]], [], [[4]]])
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [5, 6, 7], [2, 2])
    rows, numbers = tf.RaggedTensorSpec([None], tf.int32), tf.constant([3, 0, 2])
    row = tf.SparseTensorSpec([None], tf.int32)
    maps = [
        lambda: tf.map_fn(lambda x: x + 1, ragged, fn_output_signature=rows),
        lambda: tf.map_fn(lambda x: x + 1, ragged),
        lambda: tf.map_fn(tf.reduce_sum, ragged, fn_output_signature=tf.int32),
        lambda: tf.map_fn(tf.range, numbers, fn_output_signature=rows),
        lambda: tf.map_fn(tf.range, numbers[:0], fn_output_signature=rows),
        lambda: tf.map_fn(lambda x: x * 2, deeper),
        lambda: tf.map_fn(lambda x: tf.reduce_sum(x, axis=1), deeper, fn_output_signature=rows),
        lambda: tf.map_fn(lambda x: x, sparse),
        lambda: tf.map_fn(
            lambda x: tf.sparse.from_dense([x, 0, x]), numbers, fn_output_signature=row
        ),
    ]
    out = [[parts(one()), parts(tf.function(one)())] for one in maps]
    both = tf.map_fn(lambda x: (x, tf.range(x)), numbers, fn_output_signature=(tf.int32, rows))
    wrong = error_of(tf.map_fn, lambda x: (x, x), numbers, dtype=[tf.int32, tf.int32])
    return [*out, [parts(one) for one in both], wrong]


@program
def loops_that_write_arrays_of_what_they_go_over():
    @tf.function
    def joined(rows):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True, element_shape=())
        for row in rows:
            number = 0
            for digit in row:
                number = number * 10 + digit
            array = array.write(array.size(), number)
        return array.stack()

    out = []
    for rows in ([[]], [[], []], [[1]], [[1, 2], [3, 4]]):
        out.append(joined(tf.constant(rows, tf.int32)))
        dataset = tf.data.Dataset.from_tensor_slices(tf.constant(rows, tf.int32))
        out.append(joined(dataset))
        out.append(joined(tf.ragged.constant([*rows, [7, 8, 9]], dtype=tf.int32)))
    return out
