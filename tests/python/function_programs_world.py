"""More programs: what TensorFlow's own tests, and packages written for it, go by."""

import functools
import os
import tempfile

import numpy as np
from function_programs import error_of, program, tf

# --- ragged tensors -------------------------------------------------------------------------------


def _open(*values):
    """A function called on tensors of no known shape."""

    def decorate(function):
        specs = [tf.TensorSpec(None, value.dtype) for value in values]
        return tf.function(function, input_signature=specs)(*values)

    return decorate


@program
def ragged_shapes_that_are_told():
    seen = []
    spec = tf.RaggedTensorSpec([2, None, 3], ragged_rank=1)

    @_open(tf.zeros([4, 3]), tf.constant([0, 3, 4], tf.int64))
    def _(values, splits):
        made = spec._from_components([values, splits])
        seen.append(made.shape.as_list())
        return made.to_tensor()

    rows = tf.RaggedTensor.from_tensor([[[1], [2], [3]], [[4], [5], [6]]], ragged_rank=1)
    return [seen, rows.shape.as_list(), error_of(rows._set_shape, [None, 5, None])]


@program
def ragged_rows_gathered_by_ragged_indices():
    x = tf.ragged.constant([[1, 2, 3], [4, 5, 6]])
    indices = tf.ragged.constant([[0], [2, 1], []])
    return [
        tf.gather(x, indices, axis=1).to_list(),
        tf.gather(tf.constant([[1, 2, 3], [4, 5, 6]]), indices, axis=1).to_list(),
    ]


@program
def ragged_elementwise_in_functions():
    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)] * 2)
    def add(x, y):
        return x + y

    x = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    other = tf.ragged.constant([[1.0], [2.0], [3.0]])
    return [add(x, x).to_list(), error_of(add, x, other)]


@program
def ragged_rows_by_tensors():
    @tf.function
    def row(x, i):
        return x[i], x[i:]

    one, rest = row(tf.ragged.constant([[1, 2], [3], [4, 5, 6]]), tf.constant(-2))
    return [one, rest.to_list()]


@program
def ragged_mistakes():
    values = tf.constant([1, 2, 3, 4])
    return [
        error_of(tf.RaggedTensor.from_nested_row_splits, values, tf.constant([[0, 4]], tf.int64)),
        error_of(tf.RaggedTensorSpec, ragged_rank=tf.constant(1)),
        error_of(tf.RaggedTensor.from_value_rowids, values, [0, 0, 1, 1], nrows=-2),
        error_of(tf.RaggedTensor.from_row_splits, values, tf.constant([], tf.int64)),
        error_of(tf.concat, [tf.ragged.constant([[1]]), tf.ragged.constant([[2]])], 5),
    ]


# --- gradients ------------------------------------------------------------------------------------


@program
def jacobians_of_batches():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        other = tf.constant([[5.0], [6.0]])
    vector = tf.zeros([2])
    with tf.GradientTape() as once:
        once.watch(x)
        z = x * x
    return [
        tape.batch_jacobian(y, x), tape.batch_jacobian(other, x),
        error_of(tape.batch_jacobian, y, vector), error_of(tape.batch_jacobian, vector, x),
        error_of(once.batch_jacobian, z, x, experimental_use_pfor=False),
    ]  # fmt: skip


@program
def gradients_beside_strings():
    x, s = tf.constant(3.0), tf.constant("text")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    return [tape.gradient(s, s), tape.gradient(s, x), tape.gradient([y, s], x)]


@program
def gradients_of_quantized_values():
    x = tf.constant([[-1.0156, 0.3], [2.0, 0.7]])
    out = []
    for given in (True, False):
        for signed in (True, False):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.quantization.quantize_and_dequantize_v2(
                    x, -1.0, 1.0, signed_input=signed, num_bits=3, range_given=given
                )
            out += [y, tape.gradient(y, x)]
    by_row = tf.quantization.quantize_and_dequantize_v2(x, [0.0] * 2, [0.0] * 2, axis=-1)
    out += [by_row, error_of(tf.quantization.quantize_and_dequantize_v2, x, 0.0, 1.0, axis=7)]
    return out


@program
def gradients_of_mirrored_pads():
    wide = np.arange(1, 8).reshape(1, 7)
    call = tf.raw_ops.MirrorPadGrad
    return [
        call(input=wide, paddings=[[0, 0], [2, 1]], mode="REFLECT"),
        call(input=wide, paddings=[[0, 0], [2, 1]], mode="SYMMETRIC"),
        error_of(call, input=[1], paddings=[[0x77F00000, 0xA000000]], mode="REFLECT") is not None,
    ]


# --- functions and graphs -------------------------------------------------------------------------


@program
def values_of_each_call():
    value = [1.0]

    @tf.function
    def add(x):
        graph = tf.compat.v1.get_default_graph()
        return x + graph.capture_call_time_value(lambda: value[0], tf.TensorSpec(None))

    first = add(2.0)
    value[0] = 5.0
    return [first, add(2.0)]


@program
def graphs_imported_in_functions():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [], name="x")
        tf.identity(x * x + 1.0, name="y")
    message = graph.as_graph_def()

    @tf.function
    def run(x):
        return tf.import_graph_def(message, {"x:0": x}, ["y:0"])[0]

    return [run(tf.constant(3.0))]


@program
def scopes_of_wrapped_code():
    v1, seen = tf.compat.v1, []

    def code():
        with v1.variable_scope("outer") as outer:
            pass
        with v1.variable_scope(outer):
            seen.append(v1.get_variable("w", []).name)
            with v1.name_scope("inner") as inner:
                seen.append(inner)
        return tf.constant(1)

    v1.wrap_function(code, [])
    return seen


@program
def parts_of_variables():
    info = tf.Variable.SaveSliceInfo("v", [4, 6], [1, 0], [2, 6])
    again = tf.compat.v1.Variable.SaveSliceInfo.from_spec(info.spec)
    return [info.spec, again.spec, error_of(tf.Variable.SaveSliceInfo.from_spec, "0 a,0:0")]


@program
def files_that_match():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("b.txt", "a.txt", "c.bin"):
            open(os.path.join(folder, name), "w").close()

        @tf.function
        def find(pattern):
            return tf.io.matching_files(pattern)

        found = find(os.path.join(folder, "*.txt"))
        return [os.path.basename(name.decode()) for name in found.numpy()]


# --- names ----------------------------------------------------------------------------------------


@program
def sparse_tensors_as_strings():
    sparse = tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1.0, 2.0, 3.0], [3, 4])
    many = tf.io.serialize_many_sparse(sparse)
    again = tf.io.deserialize_many_sparse(many, tf.float32)
    vector = tf.SparseTensor([[0]], [1.0], [3])
    return [
        tf.io.serialize_sparse(sparse).shape.as_list(), many.shape.as_list(),
        again.indices, again.values, again.dense_shape,
        error_of(tf.io.serialize_many_sparse, vector),
    ]  # fmt: skip


@program
def tables_of_datasets():
    made = tf.data.experimental
    pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [5, 6]))
    table = made.table_from_dataset(pairs, default_value=-7)
    places = made.index_table_from_dataset(
        tf.data.Dataset.from_tensor_slices(["x", "y", "z"]), num_oov_buckets=1
    )
    add = made.Reducer(lambda key: tf.constant(0, tf.int64), lambda s, x: s + x, lambda s: s)
    groups = tf.data.Dataset.range(10).apply(made.group_by_reducer(lambda x: x % 3, add))
    return [
        table.lookup(tf.constant(["b", "?"])), table.size(), places.lookup(tf.constant(["z", "?"])),
        list(groups.as_numpy_iterator()),
        error_of(made.table_from_dataset, pairs, num_oov_buckets=-1),
    ]  # fmt: skip


@program
def examples_in_json():
    text = (
        '{"features": {"feature": {"a": {"floatList": {"value": [1.5, 2]}},'
        ' "b": {"bytesList": {"value": ["aGk="]}}, "c": {"int64List": {"value": ["3", 4]}}}}}'
    )
    features = {
        "a": tf.io.FixedLenFeature([2], tf.float32), "b": tf.io.FixedLenFeature([], tf.string),
        "c": tf.io.FixedLenFeature([2], tf.int64),
    }  # fmt: skip
    parsed = tf.io.parse_single_example(tf.io.decode_json_example(text), features)
    return [
        parsed["a"], parsed["b"], parsed["c"], tf.io.decode_json_example([["{}"]]),
        error_of(tf.io.decode_json_example, "{no"),
    ]  # fmt: skip


@program
def what_xla_names():
    def outside():
        with tf.xla.experimental.jit_scope():
            pass

    made = tf.xla.experimental.compile(lambda a: (a + 1, a * 2), [tf.constant(2.0)])
    return [tf.nest.flatten(made), error_of(outside)]


@program
def gradients_by_names_of_operations():
    name = f"AnOperationOf{id(object())}"
    tf.RegisterGradient(name)(lambda op, dy: dy)
    return [
        error_of(tf.RegisterGradient(name), lambda op, dy: dy),
        error_of(tf.RegisterGradient("Exp"), lambda op, dy: dy), error_of(tf.no_gradient, 3),
    ]  # fmt: skip


@program
def shapes_as_messages():
    known = tf.TensorShape([2, None]).as_proto()
    return [
        [dim.size for dim in known.dim], tf.TensorShape(None).as_proto().unknown_rank,
        tf.TensorShape(known).as_list(),
    ]  # fmt: skip


# --- shapes and padding of datasets ---------------------------------------------------------------


@program
def padding_that_is_refused():
    ragged = tf.data.Dataset.from_tensors(tf.ragged.constant([[1], [2, 3]]))
    with_none = tf.data.Dataset.from_tensor_slices(([1, 2], None))
    numbers = tf.data.Dataset.range(4)
    return [
        error_of(ragged.padded_batch, 2), error_of(with_none.padded_batch, 2),
        error_of(numbers.padded_batch, 2, padded_shapes=[[1, 1], [1, 1]]),
        [one.numpy().tolist() for one, _ in with_none],
    ]  # fmt: skip


@program
def sparse_shapes_of_numbers_and_tensors():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
    def make(rows):
        made = tf.SparseTensor([[0, 1]], [1.0], (rows, 3))
        seen.append(made.shape.as_list())
        return tf.sparse.to_dense(made)

    return [make(2), seen]


@program
def sparse_shapes_that_do_not_fit():
    sparse = tf.SparseTensor([[0, 1]], [1.0], [3, 4])
    return [
        error_of(tf.sparse.reshape, sparse, [5, 2]), error_of(tf.sparse.reshape, sparse, [-1, -1]),
    ]  # fmt: skip


# --- the second of two calls ----------------------------------------------------------------------


@program
def arrays_stacked_twice():
    array = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])
    return [array.stack(), array.gather([1]), array.stack(), tf.TensorArray.stack(array)]


@program
def files_flushed_after_their_end():
    with tempfile.TemporaryDirectory() as folder:
        file = tf.io.gfile.GFile(os.path.join(folder, "a"), "wb")
        file.write(b"hello")
        file.close()
        file.flush()
        file.close()
        with open(os.path.join(folder, "a"), "rb") as written:
            return [written.read()]


@program
def broadcasts_of_unknown_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, None])] * 2)
    def add(a, b):
        return tf.vectorized_map(sum, (a, b))

    return [add(tf.ones([2, 1]), tf.ones([2, 3]))]


@program
def variables_that_wait_for_inputs():
    class Model(tf.Module):
        def __init__(self):
            self.v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(x * 2)
            return self.v * x

    model = Model()
    return [model(tf.constant(3.0)), model(tf.constant(3.0)), model.v]


@program
def generators_reset_inside():
    generator = tf.random.Generator.from_seed(1)

    @tf.function
    def draw():
        generator.reset_from_seed(5)
        return generator.normal([2])

    first, second, third = (draw().numpy().tolist() for _ in range(3))
    return [first == second == third]


@program
def variables_that_elements_are():
    v = tf.Variable(0)
    counted = tf.data.Dataset.range(3).map(lambda _: v.assign_add(1))
    return [v, next(iter(counted)), [int(x) for x in counted.as_numpy_iterator()]]


@program
def kinds_of_maps():
    return [tf.map_fn(lambda x: tf.cast(x, tf.float64), tf.range(3),
                      fn_output_signature=np.float64)]  # fmt: skip


@program
def gradients_by_what_only_bodies_use():
    outside = tf.constant(3.0)
    v = tf.Variable(2.0)

    def power(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, 1.0))[1]

    @tf.function
    def by_graph():
        chosen = tf.cond(v > 1.0, lambda: outside * outside, lambda: outside)
        (first,) = tf.gradients(power(outside), outside)
        mapped = tf.map_fn(lambda a: a * outside, tf.constant([1.0, 2.0]))
        return [first, tf.gradients(first, outside), tf.gradients(chosen, outside),
                tf.gradients(mapped, outside)]  # fmt: skip

    @tf.function
    def by_tape():
        with tf.GradientTape() as tape:
            tape.watch(outside)
            y = power(outside) * v
        return tape.gradient(y, [outside, v])

    @tf.function
    def inside_of_a_branch(x):
        z = x * x
        return tf.cond(x > 1.0, lambda: tf.gradients(z * x * v, [x, v]), lambda: [x, x])

    return [by_graph(), by_tape(), inside_of_a_branch(tf.constant(3.0))]


@program
def a_function_asked_by_a_part():
    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([], tf.int32)])
    def drawn(logits, count):
        return tf.shape(tf.random.categorical(logits, count))

    sparse = tf.sparse.from_dense([[4, 0], [0, 9]])
    halves = sparse / tf.constant([[2], [2]])
    return [drawn(tf.zeros([3, 4]), 5), halves.values, halves.values.dtype.name,
            tf.expand_dims([1, 2], [-1]), error_of(tf.sequence_mask, [1, 2], [3, 4]),
            str(tf.TensorSpec([2, 3])._unbatch()), str(tf.TensorSpec([2, 3])._batch(4)),
            str(tf.TensorSpec([2, 3])._with_tensor_ranks_only())]  # fmt: skip


@program
def ragged_rows_in_batches_are_as_ragged_as_before():
    rows = tf.ragged.constant([[[1, 1], [2, 2]], [[3, 3]], []], ragged_rank=1, inner_shape=(2,))
    (batch,) = list(tf.data.Dataset.from_tensor_slices(rows).batch(3))
    return [batch.ragged_rank, batch.shape.as_list(), batch.values]


@program
def parts_of_functions_with_declared_inputs():
    def total(a, b, c, d=4):
        return a + 10 * b + 100 * c + 1000 * d

    number = [tf.TensorSpec([], tf.int32)]

    def called(part, *arguments):
        return tf.function(part, input_signature=number)(*arguments)

    full, open_ = functools.partial(total, 1, 2, d=3), functools.partial(total, 1)
    return [called(full, 4), called(functools.partial(total, 1, 2), 4),
            error_of(called, open_, 2, 3)]  # fmt: skip


@program
def loops_without_rounds():
    @tf.function
    def last_row(rows):
        for row in rows:  # noqa: B007
            pass
        return row

    @tf.function
    def last_number(count):
        for i in tf.range(count):  # noqa: B007
            pass
        return i

    def small(x):
        return x if x > 1 else -x

    @tf.function
    def each(rows):
        return tf.map_fn(small, rows)

    return [error_of(last_row, tf.zeros([0])), last_row(tf.constant([1.0, 2.0])),
            last_number(0), last_number(3), each(tf.constant([1, 2, 3]))]  # fmt: skip
