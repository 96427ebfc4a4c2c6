"""More of them: axes, ranks and sizes that only a run of the function tells."""

import numpy as np
from function_programs import error_of, program, tf

# --- ranks and sizes that nobody knows ------------------------------------------------------------

M = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
V, INTS, MASK = M[0], np.array([0, 1], np.int32), M > 1
IMAGE, KERNEL = np.ones([1, 3, 3, 1], np.float32), np.ones([2, 2, 1, 1], np.float32)
OF_ANY_RANK = {
    "range": (lambda n: tf.range(n), np.int32(3)),
    "range of floats": (lambda start: tf.range(start, 2.0, 0.5), np.float32(1)),
    "eye": (lambda n: tf.eye(n), np.int32(2)),
    "svd": (lambda x: tf.linalg.svd(x, compute_uv=False), M),
    "qr": (lambda x: tf.abs(tf.linalg.qr(x)[1]), M),
    "lu": (lambda x: tf.linalg.lu(x), M),
    "cholesky": (lambda x: tf.linalg.cholesky(x), M),
    "inv": (lambda x: tf.linalg.inv(x), M),
    "det": (lambda x: tf.linalg.det(x), M),
    "solve": (lambda x, y: tf.linalg.solve(x, y), M, M),
    "eigvalsh": (lambda x: tf.linalg.eigvalsh(x), M),
    "expm": (lambda x: tf.linalg.expm(x * 0), M),
    "matmul": (lambda x, y: tf.matmul(x, y), M, M),
    "matmul by one known": (lambda x: tf.matmul(x, M), M),
    "matvec": (lambda x, y: tf.linalg.matvec(x, y), M, V),
    "trace": (lambda x: tf.linalg.trace(x), M),
    "diag": (lambda x: tf.linalg.diag(x), M),
    "diag_part": (lambda x: tf.linalg.diag_part(x), M),
    "band_part": (lambda x: tf.linalg.band_part(x, 0, 1), M),
    "reshape": (lambda x: tf.reshape(x, [-1]), M),
    "reshape to": (lambda x, shape: tf.reshape(x, shape), M, INTS * 0 + 2),
    "shape": (lambda x: tf.shape(x), M),
    "rank": (lambda x: tf.rank(x), M),
    "size": (lambda x: tf.size(x), M),
    "expand_dims": (lambda x: tf.expand_dims(x, -1), M),
    "squeeze": (lambda x: tf.squeeze(x, [0]), M[:1]),
    "transpose": (lambda x: tf.transpose(x), M),
    "transpose by": (lambda x: tf.transpose(x, [1, 0]), M),
    "concat": (lambda x, y: tf.concat([x, y], 0), M, M),
    "stack": (lambda x, y: tf.stack([x, y]), M, M),
    "unstack": (lambda x: tf.unstack(x, 2), M),
    "split": (lambda x: tf.split(x, 2), M),
    "tile": (lambda x: tf.tile(x, [2, 1]), M),
    "tile by": (lambda x, times: tf.tile(x, times), M, INTS + 1),
    "pad": (lambda x: tf.pad(x, [[1, 0], [0, 0]]), M),
    "gather": (lambda x, i: tf.gather(x, i), M, INTS),
    "gather_nd": (lambda x, i: tf.gather_nd(x, i), M, INTS[None]),
    "slice": (lambda x: tf.slice(x, [0, 0], [1, 1]), M),
    "first": (lambda x: x[0], M),
    "column": (lambda x: x[:, 0], M),
    "ellipsis": (lambda x: x[..., 0], M),
    "newaxis": (lambda x: x[..., tf.newaxis], M),
    "reduce_sum": (lambda x: tf.reduce_sum(x), M),
    "reduce_sum over one": (lambda x: tf.reduce_sum(x, -1), M),
    "reduce_sum kept": (lambda x: tf.reduce_sum(x, 0, keepdims=True), M),
    "argmax": (lambda x: tf.argmax(x, -1), M),
    "cumsum": (lambda x: tf.cumsum(x, 0), M),
    "softmax": (lambda x: tf.nn.softmax(x), M),
    "top_k": (lambda x: tf.math.top_k(x, 1).values, M),
    "sort": (lambda x: tf.sort(x), M),
    "add": (lambda x, y: x + y, M, V),
    "where": (lambda x: tf.where(x), MASK),
    "where of two": (lambda c, x, y: tf.where(c, x, y), MASK, M, -M),
    "one_hot": (lambda x: tf.one_hot(x, 3), INTS),
    "fill": (lambda shape: tf.fill(shape, 1.0), INTS + 1),
    "zeros_like": (lambda x: tf.zeros_like(x), M),
    "broadcast_to": (lambda x, shape: tf.broadcast_to(x, shape), V, INTS * 0 + 2),
    "reverse": (lambda x: tf.reverse(x, [0]), M),
    "roll": (lambda x: tf.roll(x, 1, 0), M),
    "repeat": (lambda x: tf.repeat(x, 2, axis=0), M),
    "unique": (lambda x: tf.unique(x)[0], V),
    "segment_sum": (lambda x, ids: tf.math.segment_sum(x, ids), M, INTS),
    "max_pool": (lambda x: tf.nn.max_pool2d(x, 2, 1, "SAME"), IMAGE),
    "add_n": (lambda x, y: tf.add_n([x, y]), M, M),
    "map_fn": (lambda x: tf.map_fn(lambda row: row * 2, x), M),
    "scan": (lambda x: tf.scan(lambda a, row: a + row, x), M),
    "cond": (lambda x: tf.cond(tf.reduce_all(x > 0), lambda: x, lambda: -x), M),
    "gradient": (lambda x: tf.gradients(tf.reduce_sum(x * x), x)[0], M),
    "gradient of matmul": (lambda x, y: tf.gradients(tf.matmul(x, y), x)[0], M, M),
    "gradient of add": (lambda x, y: tf.gradients(x + y, y)[0], M, V),
    "gradient of concat": (lambda x, y: tf.gradients(tf.concat([x, y], 0), y)[0], M, M),
    "gradient of slice": (lambda x: tf.gradients(x[0], x)[0], M),
    "gradient of reduce_max": (lambda x: tf.gradients(tf.reduce_max(x, -1), x)[0], M),
    "gradient of softmax": (lambda x: tf.gradients(tf.nn.softmax(x)[..., 0], x)[0], M),
}


def _flat_gradient(y, x):
    return tf.reshape(tf.gradients(y, x)[0], [-1])


# What is written in Python and asks for ranks.
SPLITS, FLAT = np.array([0, 1, 4], np.int64), np.arange(4, dtype=np.float32)
WRITTEN_IN_PYTHON = {
    "adjoint": (lambda x: tf.linalg.adjoint(x), M),
    "matrix_transpose": (lambda x: tf.linalg.matrix_transpose(x), M),
    "lstsq": (lambda x, y: tf.round(tf.linalg.lstsq(x, y)), M, M),
    "pinv": (lambda x: tf.linalg.pinv(x), M),
    "cross": (lambda x, y: tf.linalg.cross(x, y), np.eye(3, dtype="f"), np.ones([3, 3], "f")),
    "einsum": (lambda x, y: tf.einsum("ij,jk->ik", x, y), M, M),
    "einsum with dots": (lambda x, y: tf.einsum("...ij,...jk->...ik", x, y), M, M),
    "tensordot": (lambda x, y: tf.tensordot(x, y, 1), M, M),
    "tensordot over pairs": (lambda x, y: tf.tensordot(x, y, [[1], [0]]), M, M),
    "gradient of einsum": (lambda x: _flat_gradient(tf.einsum("ij,jk->ik", x, M), x), M),
    "gradient of conv2d": (lambda x: _flat_gradient(tf.nn.conv2d(x, KERNEL, 1, "SAME"), x), IMAGE),
    "fft": (lambda x: tf.abs(tf.signal.fft(tf.cast(x, tf.complex64))), M),
    "rfft2d": (lambda x: tf.abs(tf.signal.rfft2d(x)), M),
    "dct": (lambda x: tf.signal.dct(x), M),
    "frame": (lambda x: tf.signal.frame(x, 2, 1), FLAT),
    "stft": (lambda x: tf.abs(tf.signal.stft(x, 4, 2)), FLAT),
    "from_row_splits": (
        lambda x, y: tf.RaggedTensor.from_row_splits(x, y).to_tensor(),
        FLAT,
        SPLITS,
    ),
    "from_row_lengths": (
        lambda x, y: tf.RaggedTensor.from_row_lengths(x, y).to_tensor(),
        FLAT,
        SPLITS[1:] - [0, 1],
    ),
    "from_value_rowids": (
        lambda x, y: tf.RaggedTensor.from_value_rowids(x, y).to_tensor(),
        FLAT,
        SPLITS[[0, 1, 1, 1]],
    ),
    "from_row_starts": (
        lambda x, y: tf.RaggedTensor.from_row_starts(x, y).to_tensor(),
        FLAT,
        SPLITS[:2],
    ),
    "from_tensor": (lambda x: tf.RaggedTensor.from_tensor(x).row_splits, M),
    "split by sizes": (lambda x: tf.split(x, [1, 1], -1), M),
    "softmax_cross_entropy": (lambda x, y: tf.nn.softmax_cross_entropy_with_logits(x, y), M, M),
    "sparse_softmax_cross_entropy": (
        lambda x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(x, y),
        INTS,
        M,
    ),
    "broadcast_dynamic_shape": (
        lambda x, y: tf.broadcast_dynamic_shape(x, y),
        INTS + 1,
        INTS[1:] * 2,
    ),
    "confusion_matrix": (lambda x, y: tf.math.confusion_matrix(x, y), INTS, INTS),
    "conv2d": (lambda x, kernel: tf.nn.conv2d(x, kernel, 1, "SAME"), IMAGE, KERNEL),
    "bias_add": (lambda x, y: tf.nn.bias_add(x, y), M, V),
    "moments": (lambda x: tf.nn.moments(x, [0]), M),
}


def _with_specs(function, arrays):
    """(what it gives for arrays whose rank the trace does not know, the shapes it infers)"""
    seen, specs = [], [tf.TensorSpec(None, tf.as_dtype(array.dtype)) for array in arrays]

    def traced(*args):
        result = function(*args)
        seen.append([t.shape.as_list() if t.shape.rank is not None else None
                     for t in tf.nest.flatten(result)])  # fmt: skip
        return result

    result = tf.function(traced, autograph=False, input_signature=specs)(*map(tf.constant, arrays))
    return [t.numpy().tolist() for t in tf.nest.flatten(result)], seen


@program
def tensors_of_unknown_rank():
    return {
        name: _with_specs(function, arrays) for name, (function, *arrays) in OF_ANY_RANK.items()
    }


@program
def functions_of_tensors_of_unknown_rank():
    return {
        name: _with_specs(function, arrays)
        for name, (function, *arrays) in WRITTEN_IN_PYTHON.items()
    }


@program
def shapes_that_vectors_of_unknown_size_say():
    x = tf.ones([2, 2])
    of_shape = {
        "reshape": lambda shape: tf.reshape(x, shape),
        "fill": lambda shape: tf.fill(shape, 1.0),
        "zeros": lambda shape: tf.zeros(shape),
        "broadcast_to": lambda shape: tf.broadcast_to(x, shape),
        "tile": lambda shape: tf.tile(x, shape),
        "uniform": lambda shape: tf.random.uniform(shape),
        "slice": lambda begin: tf.slice(x, begin, begin + 1),
    }

    def inferred(function, sizes):
        spec = tf.TensorSpec(sizes, tf.int32)
        traced = tf.function(function, autograph=False, input_signature=[spec])
        return str(traced.get_concrete_function().output_shapes)

    return {name: [inferred(function, sizes) for sizes in ([None], None)]
            for name, function in of_shape.items()}  # fmt: skip


@program
def sizes_that_a_known_shape_fixes():
    @tf.function(autograph=False, input_signature=[tf.TensorSpec([None, None])] * 2)
    def f(x, y):
        y = tf.ensure_shape(y, [2, 3])
        z = tf.reshape(x, tf.shape(y))
        return z, tf.constant(z.shape.as_list())

    return f(tf.ones([3, 2]), tf.ones([2, 3]))


# --- axes that are tensors ------------------------------------------------------------------------

ALONG_ONE = {
    "reduce_sum": lambda x, axis: tf.reduce_sum(x, axis),
    "kept": lambda x, axis: tf.reduce_sum(x, axis, keepdims=True),
    "reduce_mean": lambda x, axis: tf.reduce_mean(x, axis),
    "reduce_max": lambda x, axis: tf.reduce_max(x, axis),
    "reduce_min": lambda x, axis: tf.reduce_min(x, axis),
    "reduce_prod": lambda x, axis: tf.reduce_prod(x / 8, axis),
    "reduce_all": lambda x, axis: tf.reduce_all(x > 2, axis),
    "reduce_any": lambda x, axis: tf.reduce_any(x > 20, axis),
    "reduce_logsumexp": lambda x, axis: tf.reduce_logsumexp(x, axis),
    "reduce_std": lambda x, axis: tf.math.reduce_std(x, axis),
    "count_nonzero": lambda x, axis: tf.math.count_nonzero(x, axis),
    "argmax": lambda x, axis: tf.argmax(x, axis),
    "argmin": lambda x, axis: tf.argmin(x, axis),
    "gather": lambda x, axis: tf.gather(x, [[1, 0]], axis=axis),
    "concat": lambda x, axis: tf.concat([x, -x], axis),
    "cumsum": lambda x, axis: tf.cumsum(x, axis, reverse=True),
    "cumprod": lambda x, axis: tf.math.cumprod(x / 8, axis),
    "cumulative_logsumexp": lambda x, axis: tf.math.cumulative_logsumexp(x, axis),
    "expand_dims": lambda x, axis: tf.expand_dims(x, axis),
    "reverse": lambda x, axis: tf.reverse(x, axis[tf.newaxis]),
    "roll": lambda x, axis: tf.roll(x, 1, axis),
    "split": lambda x, axis: tf.split(x, 1, axis),
    "l2_normalize": lambda x, axis: tf.math.l2_normalize(x, axis),
}
ALONG_SEVERAL = {
    "transpose": (lambda x, perm: tf.transpose(x, perm), [2, 0, 1]),
    "reduce_sum": (lambda x, axes: tf.reduce_sum(x, axes), [0, -1]),
    "reduce_max": (lambda x, axes: tf.reduce_max(x, axes, keepdims=True), [2, 0]),
    "reverse": (lambda x, axes: tf.reverse(x, axes), [0, -1]),
    "roll": (lambda x, axes: tf.roll(x, [1, 2], axes), [0, 2]),
}


def _traced(function, seen):
    """The function, that also notes the static shapes of its results."""

    def traced(*args):
        result = function(*args)
        seen.append([t.shape.as_list() if t.shape.rank is not None else None
                     for t in tf.nest.flatten(result)])  # fmt: skip
        return result

    return tf.function(traced, autograph=False)


@program
def one_axis_that_is_a_tensor():
    x = tf.reshape(tf.range(24.0), [2, 3, 4])
    out = {}
    for name, function in ALONG_ONE.items():
        seen = []
        traced = _traced(function, seen)
        out[name] = [traced(x, tf.constant(axis)) for axis in (1, -1)], seen
    return out


@program
def several_axes_that_are_a_tensor():
    x = tf.reshape(tf.range(24.0), [2, 3, 4])
    out = {}
    for name, (function, axes) in ALONG_SEVERAL.items():
        seen = []
        out[name] = _traced(function, seen)(x, tf.constant(axes)), seen
    return out


@program
def gradients_along_axes_that_are_tensors():
    x = tf.reshape(tf.range(6.0), [2, 3])

    def gradient(function):
        @tf.function(autograph=False)
        def traced(x, axis):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x, axis)
                y = tf.reduce_sum(y * y)
            return tape.gradient(y, x)

        return [traced(x, tf.constant(axis)) for axis in (0, 1)]

    names = ("reduce_sum", "reduce_max", "cumsum", "concat", "expand_dims", "reverse")
    out = [gradient(ALONG_ONE[name]) for name in names]
    return [*out, gradient(lambda x, axis: tf.transpose(x, [axis, 1 - axis])[0])]


@program
def axes_that_no_tensor_has():
    x = tf.ones([2, 3])

    def refused(function, axis):
        return error_of(tf.function(function, autograph=False), x, tf.constant(axis))

    out = [refused(ALONG_ONE[name], 2) for name in ("reduce_sum", "argmax", "cumsum", "concat")]
    return [error is not None for error in (*out, refused(tf.transpose, [0, 0]))]


@program
def blocks_replaced_in_tensors_of_unknown_sizes():
    update = tf.keras.ops.slice_update
    specs = [tf.TensorSpec([None, None]), tf.TensorSpec([None, None]), tf.TensorSpec([], tf.int32)]

    @tf.function(input_signature=specs)
    def f(x, block, start):
        return update(x, (0, start), block)

    return [f(tf.zeros([2, 5]), tf.ones([2, 1]), 3), f(tf.zeros([2, 3]), tf.ones([1, 2]), 2)]


# --- sizes that agree by chance -------------------------------------------------------------------

ANY, OF_TWO = [tf.TensorSpec([None])], [tf.TensorSpec([None])] * 2
THREE, TWO, SIX = (np.ones([size], np.float32) for size in (3, 2, 6))
ROWS = np.ones([2, 2, 3], np.float32)


def _size(x, axis=0):
    return tf.shape(x)[axis]


BY_CHANCE = {
    "difference": (lambda x, y: tf.zeros([_size(x) - _size(y)]), OF_TWO, THREE, TWO),
    "ratio": (lambda x, y: tf.zeros([_size(x) // _size(y), 2]), OF_TWO, SIX, TWO),
    "of a large number": (lambda x: tf.zeros([_size(x) // 10000 + 1]), ANY, THREE),
    "remainder": (lambda x: tf.zeros([_size(x) % 720]), ANY, THREE),
    "at most one": (lambda x: tf.zeros([tf.minimum(_size(x), 1)]), ANY, THREE[:0]),
    "first if any": (lambda x: x[:1], ANY, THREE[:0]),
    "sign": (lambda x: tf.zeros([tf.sign(_size(x))]), ANY, THREE[:0]),
    "range": (lambda x, y: tf.range(_size(x) - _size(y)), OF_TWO, THREE, TWO),
    "after another's": (lambda x, y: x[_size(y) :], OF_TWO, THREE, TWO),
    "up to another's": (lambda x, y: x[: _size(y)], OF_TWO, THREE, TWO),
    "padded to another's": (lambda x, y: tf.pad(y, [[0, _size(x) - _size(y)]]), OF_TWO, THREE, TWO),
    "rows as another's": (lambda x, y: tf.reshape(x, [_size(y), -1]), OF_TWO, SIX, TWO),
    "the rest": (lambda x: tf.reshape(x, [_size(x), -1]), [tf.TensorSpec([None, 2, 3])], ROWS),
    "of a filter": (
        lambda x, k: tf.nn.conv2d(x, k, 1, "VALID"),
        [tf.TensorSpec([None] * 4)] * 2,
        IMAGE,
        KERNEL,
    ),
    "a number and a size": (
        lambda x, n: tf.zeros([n, _size(x), 4]),
        [*ANY, tf.TensorSpec([], tf.int32)],
        THREE,
        np.int32(2),
    ),
    "is it known": (
        lambda x, y: tf.constant(tf.get_static_value(_size(x) - _size(y)) is None),
        OF_TWO,
        THREE,
        TWO,
    ),
}


@program
def sizes_that_agree_by_chance():
    out = {}
    for name, (function, specs, *arrays) in BY_CHANCE.items():
        seen = []
        traced = _traced(function, seen)
        traced.get_concrete_function(*specs)
        out[name] = seen[0], traced.get_concrete_function(*specs)(*map(tf.constant, arrays))
    return out
