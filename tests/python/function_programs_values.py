"""More of them: what arrays, files, loop variables and axes hold while a function is traced."""

import os
import tempfile
import unittest

import numpy as np
from function_programs import error_of, program, tf

# --- files ----------------------------------------------------------------------------------------


def _content(path):
    with open(path, "rb") as file:
        return file.read()


@program
def files_closed_more_than_once():
    out = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        for mode, text in (("wb", b"abc"), ("w", "abcd"), ("a", "e")):
            file = tf.io.gfile.GFile(path, mode)
            file.write(text)
            file.close(), file.flush(), file.close()
            out.append(_content(path))
        file.write("f")  # opens it again
        file.close()
        out.append(_content(path))
        tf.io.gfile.GFile(path, "w").close()  # nothing was written
        out.append(_content(path))
        tf.io.gfile.GFile(path + "2", "w").close()
        out.append(os.path.exists(path + "2"))
    return out


# --- tensor arrays --------------------------------------------------------------------------------


@program
def arrays_stacked_and_gathered_twice():
    out = []
    for clears in (None, True, False):
        array = tf.TensorArray(tf.float32, 3, clear_after_read=clears)
        array = array.write(0, 1.0).write(1, 2.0).write(2, 3.0)
        out += [array.stack(), array.stack(), array.gather([0, 2]), array.gather([0, 2])]
        out += [array.read(0), error_of(array.read, 0), array.stack()]
        out += [error_of(array.read, 0), array.gather([0]), array.write(0, 5.0).read(0)]
    rows = tf.TensorArray(tf.float32, 2).unstack([[1.0, 2.0], [3.0, 4.0]])
    return [*out, rows.concat(), rows.concat(), rows.stack()]


@program
def arrays_of_graphs_stacked_and_gathered_twice():
    @tf.function
    def f():
        array = tf.TensorArray(tf.float32, 3).unstack([1.0, 2.0, 3.0])
        out = [array.stack(), array.stack(), array.gather([0, 2]), array.gather([0, 2])]
        return [*out, array.read(0), array.stack()]

    return f()


def _unbound_calls():
    array = tf.TensorArray.unstack(tf.TensorArray(tf.float32, 3), [1.0, 2.0, 3.0])
    array = tf.TensorArray.write(tf.TensorArray.identity(array), 1, 7.0)
    parts = tf.TensorArray.split(tf.TensorArray(tf.float32, 2), [1.0, 2.0, 3.0], [1, 2])
    put = tf.TensorArray.scatter(tf.TensorArray(tf.float32, 2), [1, 0], [4.0, 5.0])
    return [
        tf.TensorArray.stack(array), tf.TensorArray.gather(array, [1]), tf.TensorArray.size(array),
        tf.TensorArray.read(array, 1), tf.TensorArray.concat(parts), tf.TensorArray.stack(put),
    ]  # fmt: skip


@program
def methods_of_arrays_called_unbound():
    return [*_unbound_calls(), *tf.function(_unbound_calls)()]


# --- variables as what a loop or a condition starts with ------------------------------------------


@program
def loop_variables_that_start_as_variables():
    scalar, vector = tf.Variable(1.0), tf.Variable([1.0, 2.0])

    @tf.function
    def doubled(n):
        y = scalar
        while n > 0:
            y = y * 2.0
            n -= 1
        return y

    @tf.function
    def summed(n):
        y = vector
        for i in tf.range(n):
            y = y + tf.cast(i, tf.float32)
        return y

    @tf.function
    def by_hand(n):
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + 1.0), (0, scalar))[1]

    out = [f(tf.constant(n)) for f in (doubled, summed, by_hand) for n in (0, 3)]
    return [*out, tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + 1.0), (0, scalar))[1]]


@program
def conditions_on_what_was_a_variable():
    v = tf.Variable(1.0)

    @tf.function
    def f(n):
        y = v
        if n > 0:
            y = y * 2.0
        return y

    @tf.function
    def g(n):
        y = v
        for _ in tf.range(n):
            y.assign_add(1.0)  # the variable itself: nothing is assigned to the name
        return y

    return [f(tf.constant(1)), f(tf.constant(0)), g(tf.constant(2)), v]


# --- variables, gradients and attributes ----------------------------------------------------------


@program
def variables_that_start_with_an_argument():
    class Scaled(tf.Module):
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(x * 2.0)
            return self.v + x

    class Counted(tf.Module):
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(tf.zeros([tf.shape(x)[0], 2]))
            return self.v.assign_add(tf.ones_like(self.v)) + x

    class Inner(tf.Module):
        v = None

        @tf.function
        def outer(self, x):
            return self.inner(x + 1.0)

        @tf.function
        def inner(self, y):
            if self.v is None:
                self.v = tf.Variable(y * 3.0)
            return self.v * y

    scaled, counted, inner = Scaled(), Counted(), Inner()
    out = [scaled(tf.constant(1.0)), scaled(tf.constant(5.0)), scaled.v]
    out += [counted(tf.ones([3, 2])), counted(tf.ones([3, 2])), counted.v]
    return [*out, inner.outer(tf.constant(1.0)), inner.outer(tf.constant(2.0)), inner.v]


@program
def custom_gradients_that_nobody_asks_for():
    @tf.custom_gradient
    def failing(x):
        def grad(dy):
            raise LookupError("no gradient")

        return x * 2.0, grad

    @tf.custom_gradient
    def needs_a_value(x):
        return x * 3.0, lambda dy: dy * x.numpy()

    x = tf.Variable(2.0)

    def gradient(f):
        with tf.GradientTape() as tape:
            y = f(x)
        return tape.gradient(y, x)

    f, g = tf.function(lambda x: failing(x)), tf.function(lambda x: needs_a_value(x))
    return [f(x), g(x), error_of(gradient, f), error_of(gradient, failing), gradient(needs_a_value)]


@program
def dataset_reduced_to_a_state_that_grows():
    @tf.function
    def numbers(n):
        return tf.data.Dataset.range(n).reduce(
            tf.zeros([0], tf.int64), lambda state, x: tf.concat([state, [x]], 0)
        )

    @tf.function
    def pair(n):
        return tf.data.Dataset.range(n).reduce(
            (0.0, tf.zeros([1, 2])), lambda state, x: (state[0] + 1, tf.tile(state[1], [2, 1]))
        )

    return [numbers(tf.constant(4, tf.int64)), numbers(tf.constant(0, tf.int64)), pair(2)]


@program
def outputs_of_maps_announced_in_other_words():
    def both(x):
        return x, tf.cast(x, tf.float64) * 2

    def one(x):
        return tf.cast(x, tf.float64) / 2

    def all_of(x):
        out = [
            tf.map_fn(one, x, fn_output_signature=kind)
            for kind in (np.float64, "float64", np.dtype("float64"), tf.TensorSpec([], "double"))
        ]
        out.append(tf.map_fn(both, x, fn_output_signature=(np.int32, np.float64)))
        return out  # fmt: skip

    return [all_of(tf.constant([1, 2])), tf.function(all_of)(tf.constant([1, 2]))]


@program
def test_cases_that_set_up_on_their_own():
    class Case(tf.test.TestCase):
        def setUp(self):
            pass

        def test_it(self):
            self.assertAllClose(tf.constant([1.0]), [1.0])
            self.assertTrue(os.path.isdir(self.get_temp_dir()))
            self.assertAllEqual(self.evaluate(tf.constant(1)), 1)

    result = unittest.TestResult()
    Case("test_it").run(result)
    return [result.testsRun, len(result.errors), len(result.failures)]


@program
def attributes_of_what_a_function_wraps():
    class Scale:
        by = 3

        def __call__(self, x):
            return x * self.by

    scale = Scale()
    scale.label = "scaled"
    wrapped = tf.function(scale)

    def plain(x):
        "Doubled."
        return x * 2

    plain.tag = [1, 2]
    function = tf.function(plain)
    return [
        wrapped(tf.constant(2)), wrapped.label, hasattr(wrapped, "by"), function.tag,
        function.__name__, function.__doc__, hasattr(function, "label"),
    ]  # fmt: skip


@program
def vectorized_maps_over_unknown_numbers():
    def over(fn, shape):
        specs = [tf.TensorSpec(shape), tf.TensorSpec(shape)]
        return tf.function(lambda a, b: tf.vectorized_map(fn, (a, b)), input_signature=specs)

    def added(pair):
        return pair[0] + pair[1]

    def ones(*sizes):
        return tf.ones(sizes)

    f, g = over(added, [None, None]), over(sum, [None, None])
    out = [f(ones(2, 1), ones(2, 3)), f(ones(1, 3), ones(3, 3)), f(ones(3, 3), ones(1, 3))]
    out += [g(ones(1, 3), ones(3, 3)), g(ones(3, 1), ones(1, 2)), g(ones(1, 1), ones(1, 2))]
    out.append(error_of(g, ones(2, 3), ones(3, 3)) is not None)
    h = over(added, None)
    return [*out, h(ones(2, 1), ones(2, 3)), h(ones(2), ones(2)), h(ones(1, 3), ones(2, 3))]


# --- sparse rows, tables, losses ------------------------------------------------------------------


@program
def empty_rows_filled_in_the_order_of_the_others():
    out = []
    for indices, rows in (([[3, 1], [0, 2], [0, 1], [2, 0]], 5), ([[0, 1], [0, 0], [2, 1]], 4)):
        values = list(range(1, len(indices) + 1))
        sparse = tf.SparseTensor(indices, values, [rows, 3])
        filled, was_empty = tf.sparse.fill_empty_rows(sparse, 9)
        out.append([filled.indices, filled.values, filled.dense_shape, was_empty])
    return out


def _jpeg_header(components):
    """A file of 5 x 7 pixels that ends before the first of them."""
    kinds = b"".join(bytes([i + 1, 0x11, 0]) for i in range(components))
    scans = b"".join(bytes([i + 1, 0]) for i in range(components))
    frame = b"\x08\x00\x05\x00\x07" + bytes([components]) + kinds
    scan = bytes([components]) + scans + b"\x00\x3f\x00"
    parts = [(b"\xff\xc0", frame), (b"\xff\xda", scan)]
    body = b"".join(mark + (len(part) + 2).to_bytes(2, "big") + part for mark, part in parts)
    return b"\xff\xd8" + body + b"\xff\xd9"


@program
def shapes_of_photographs_in_inks():
    return [tf.io.extract_jpeg_shape(_jpeg_header(n)) for n in (1, 3, 4)]


@program
def dense_tables_exported():
    def ints(*numbers):
        return tf.constant(numbers, tf.int64)

    table = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-1, initial_num_buckets=4
    )

    def exported():
        keys, values = table.export()
        rows = np.concatenate([keys.numpy(), values.numpy() * (keys.numpy() > 0)], axis=1)
        return sorted(rows.tolist()), keys.shape.as_list(), values.shape.as_list()

    out = [exported()]
    table.insert(ints(7, 8), ints(70, 80))
    out.append(exported())
    table.erase(ints(7))
    out.append(exported())
    for number in range(9, 14):
        table.insert(ints(number), ints(number * 10))
    refused = [error_of(table.lookup, ints(0)), error_of(table.insert, ints(-1), ints(1))]
    pairs = tf.lookup.experimental.DenseHashTable(
        tf.string, tf.float32, [-1.0, -1.0], empty_key="", deleted_key="-", initial_num_buckets=4
    )
    pairs.insert(tf.constant(["a"]), tf.constant([[1.0, 2.0]]))
    shapes = [part.shape.as_list() for part in pairs.export()]
    return [*out, exported(), *refused, shapes, table.lookup(ints(7, 13))]


@program
def variables_that_replicas_add_up_are_not_trained():
    kinds = tf.VariableSynchronization
    made = [tf.Variable(1.0, synchronization=kind).trainable for kind in kinds]
    explicit = tf.Variable(1.0, trainable=True, synchronization=kinds.ON_READ)
    return [*made, explicit.trainable]


@program
def losses_of_sequences_keep_the_dtype():
    out = []
    for dtype in (tf.float16, tf.bfloat16, tf.float32):
        logits = tf.cast(tf.reshape(tf.range(24.0) / 24, [4, 2, 3]), dtype)
        loss = tf.nn.ctc_loss(tf.constant([[1, 2], [1, 1]]), logits, [2, 1], [4, 4])
        out.append([loss.dtype.name, np.round(loss.numpy().astype(np.float32), 1)])
    return out


@program
def watched_variables_come_in_the_order_they_were_made():
    a, b, c = (tf.Variable(1.0, name=name) for name in "abc")
    function = tf.function(lambda: b * c + a)
    out = []
    for read in (lambda: c * a * b * a, lambda: a * c, function):
        with tf.GradientTape() as tape:
            read()
        out.append([variable.name for variable in tape.watched_variables()])
    return out


@program
def loops_over_datasets_that_are_not_converted():
    dataset = tf.data.Dataset.range(3)

    def summed(elements):
        total = tf.constant(0, tf.int64)
        for element in elements:
            total += element
        return total

    @tf.function(autograph=False)
    def first_two():
        iterator = iter(dataset)
        return next(iterator), next(iterator)

    plain = tf.function(summed, autograph=False)
    refused = [error_of(plain, dataset), error_of(plain, iter(dataset))]
    return [*refused, tf.function(summed)(dataset), first_two()]


@program
def crops_of_absurd_sizes():
    image = tf.ones([1, 2, 2, 1])

    def crop(*size):
        return tf.image.crop_and_resize(image, [[0.0, 0.0, 1.0, 1.0]], [0], size)

    absurd = error_of(crop, 2**31 - 1, 2**31 - 1)
    return [error_of(crop, -1, 4), error_of(crop, 0, 4), absurd, crop(1, 2)]


@program
def determinants_of_what_is_not_finite():
    inf, nan = float("inf"), float("nan")
    matrices = [
        [[inf, 1], [1, 1]], [[-inf, 1], [1, 1]], [[nan, 1], [1, 1]], [[0.0, 0], [0, 0]],
        [[inf, inf], [1, 1]], [[1, nan], [1, 2]], [[0, -2.0], [3, 4]],
    ]  # fmt: skip
    found = [(tf.linalg.det(m), *tf.linalg.slogdet(m)) for m in map(tf.constant, matrices)]
    return [[str(float(value)) for value in row] for row in found]


@program
def windows_that_undo_windows():
    windows = [tf.signal.inverse_stft_window_fn(step) for step in (1, 3, 4, 6)]
    return [window(length, dtype=tf.float32) for window in windows for length in (4, 5)]


# --- rows, and complex numbers --------------------------------------------------------------------


@program
def rows_are_clipped_and_scaled_as_rows():
    rows = tf.IndexedSlices(tf.constant([[3.0, 4.0], [0.0, 0.0]]), tf.constant([0, 2]),
                            tf.constant([4, 2]))  # fmt: skip
    clipped, scaled = tf.clip_by_norm(rows, 1.0), tf.math.scalar_mul(2.0, rows)
    return [clipped.values, clipped.indices, scaled.values, scaled.indices, scaled.dense_shape]


@program
def signs_of_complex_numbers_have_gradients():
    x = tf.constant([1 + 1j, 2 - 3j, 0j, -1.5 + 0j], tf.complex64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sign(x)
    found = tape.gradient(y, x, tf.constant([1 + 0j, 0.5 - 1j, 1 + 1j, 2j], tf.complex64))
    return [tf.math.real(found), tf.math.imag(found)]


@program
def boxes_that_share_much_lose_score_softly():
    boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 3.0, 3.0]]
    soft = tf.image.non_max_suppression_with_scores(
        boxes, [0.9, 0.8, 0.7], 3, iou_threshold=0.5, score_threshold=0.0, soft_nms_sigma=0.5
    )
    hard = tf.image.non_max_suppression_with_scores(boxes, [0.9, 0.8, 0.7], 3, 0.5, 0.0)
    return [list(soft), list(hard)]


@program
def counts_of_ragged_and_sparse_rows():
    ragged = tf.ragged.constant([[1, 1, 2], [], [0]])
    sparse = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [1, 1, 2], [2, 3])
    return [tf.math.bincount(ragged, axis=-1), tf.math.bincount(ragged, minlength=5),
            tf.math.bincount(sparse, axis=-1, minlength=4)]  # fmt: skip
