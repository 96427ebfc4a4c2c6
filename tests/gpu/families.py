"""Calls of ops by family, for the checks that compare a GPU with the CPU.

A family is a function that yields (op, inputs, attributes); inputs that an op reads on the host are
wherever they were made.
"""

import numpy as np

import tidemark as tf

FAMILIES = []
FLOATS = ["float32", "float64", "float16", "bfloat16"]


def family(function):
    FAMILIES.append(function)
    return function


def numbers(dtype, shape, seed=0):
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return tf.constant(random.integers(0, 2, shape).astype(bool))
    if dtype.startswith("complex"):
        return tf.cast(tf.constant(random.integers(-9, 9, shape) + 1j), dtype)
    if dtype in FLOATS:
        return tf.cast(tf.constant(random.uniform(-3, 3, shape)), dtype)
    return tf.cast(tf.constant(random.integers(0, 100, shape)), dtype)


def indices(shape, limit, dtype="int32", seed=0):
    drawn = np.random.default_rng(seed).integers(0, limit, shape)
    return tf.constant(drawn.astype(dtype))


@family
def integer_division():
    for op in ("floordiv", "floormod", "truncatediv", "truncatemod", "pow"):
        for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
            yield op, [numbers(dtype, (1000, 7)), numbers(dtype, (7,), 2) + tf.cast(1, dtype)], {}


@family
def indexing():
    for dtype in [*FLOATS, "int32", "uint8", "complex64"]:
        table = numbers(dtype, (1000, 33))
        for index in ("int32", "int64"):
            yield "gather", [table, indices((5000,), 1000, index)], {}
            yield "gather", [table, indices((70,), 33, index)], {"axis": 1}
            yield "gather_nd", [table, indices((500, 2), 33, index)], {}
        updates, at = numbers(dtype, (5000, 33), 1), indices((5000, 1), 50)
        yield "gather_grad", [indices((5000,), 1000), updates, tf.constant([1000, 33])], {}
        yield "gather_grad", [indices((5000,), 3), updates, tf.constant([1000, 33])], {}
        yield "scatter_nd", [at, updates, tf.constant([1000, 33])], {}
        for how in ("update", "add", "sub"):
            yield f"tensor_scatter_nd_{how}", [table, at, updates], {}
        for how in ("sum", "prod"):
            yield (
                f"unsorted_segment_{how}",
                [updates, indices((5000,), 2000), tf.constant(2000)],
                {},
            )
        if dtype.startswith("complex"):
            continue
        for how in ("min", "max"):
            yield f"tensor_scatter_nd_{how}", [table, at, updates], {}
            yield f"unsorted_segment_{how}", [updates, indices((5000,), 70), tf.constant(70)], {}
    # Keys of five digits, over many tiles.
    many = numbers("float32", (300_000, 2))
    yield "gather_grad", [indices((300_000,), 600_000), many, tf.constant([600_000, 2])], {}


@family
def layouts():
    for dtype in [*FLOATS, "int32", "uint8", "complex128", "bool"]:
        x = numbers(dtype, (30, 40, 50))
        one = tf.reshape(x[0, 0, :1], [])
        for mode in ("CONSTANT", "REFLECT", "SYMMETRIC"):
            yield "pad", [x, tf.constant([[1, 2], [0, 3], [2, 0]]), one], {"mode": mode}
        yield "reverse", [x], {"axis": [0, 2]}
        yield "roll", [x, tf.constant([1, -7])], {"axis": [1, 2]}
        bounds = [tf.constant(v) for v in ([29, 3, 0], [0, 39, 50], [-1, 2, 7])]
        yield "strided_slice", [x, *bounds], {}
        yield "split", [x], {"axis": 1, "num": 3, "sizes": [10, 25, 5]}
        yield "unstack", [x], {"axis": 0, "num": 30}
        yield "repeat", [x, tf.constant([3])], {"axis": 1}
        yield "band_part", [x, tf.constant(1), tf.constant(5)], {}
        yield "diag_part", [x], {"k": -1}
        yield "diag", [x], {"k": 1}
        yield "set_diag", [x, numbers(dtype, (30, 40), 4)], {}
        yield "one_hot", [indices((999,), 60), tf.constant(50), one, one], {}
        yield "ones_like", [x], {}
        if dtype != "bool":
            yield "add_n", [x, x, x], {}


def positive(dtype, shape, seed=0):
    """Numbers whose sums do not cancel."""
    return tf.cast(tf.constant(np.random.default_rng(seed).uniform(0.5, 1, shape)), dtype)


@family
def convolutions():
    for dtype in FLOATS:
        for images, window, strides, padding in [
            ((32, 12, 12, 3), (3, 3, 3, 8), [1, 1], "SAME"),
            ((32, 6, 6, 8), (3, 3, 8, 16), [2, 2], "VALID"),
            ((4, 30, 31, 64), (5, 3, 64, 32), [1, 2], "SAME"),
        ]:
            x, w = positive(dtype, images), positive(dtype, window, 1)
            attrs = {"strides": strides, "padding": padding}
            made = tf.nn.convolution(x, w, strides=strides, padding=padding)
            dy = positive(dtype, made.shape, 2)
            for _ in range(4):  # whose bits must be the same each time
                yield "convolution", [x, w], attrs
                yield "convolution_input_grad", [tf.constant(images), w, dy], attrs
                yield "convolution_filter_grad", [x, tf.constant(window), dy], attrs


@family
def networks():
    for dtype in FLOATS:
        x, dy = positive(dtype, (300, 1000)), positive(dtype, (300, 1000), 1)
        scale, wide = positive(dtype, (1000,), 2), "float64" if dtype == "float64" else "float32"
        for axis in (0, 1):
            yield "softmax", [x], {"axis": axis}
        yield "softmax_cross_entropy", [x, dy], {}
        yield "sparse_softmax_cross_entropy", [x, indices((300,), 1000)], {}
        # Far from 1, so that nothing cancels.
        yield "layer_norm", [x, scale, scale * tf.cast(9.0, dtype)], {}
        yield "rms_norm", [x, scale], {}
        channels = tf.cast(scale, wide)
        yield "batch_norm", [x, channels, channels * tf.cast(9.0, wide)], {}


@family
def order():
    for dtype in [*FLOATS, "int32", "uint8", "int64"]:
        x = numbers(dtype, (70, 3000))
        for op in ("argmax", "argmin"):
            for axis in (0, 1):
                yield op, [x], {"axis": axis}
        for direction in ("ASCENDING", "DESCENDING"):
            yield "sort", [x], {"axis": 0, "direction": direction}
            yield "argsort", [x], {"direction": direction}
        yield "top_k", [x, tf.constant(17)], {}
        if dtype not in FLOATS:
            yield "cumsum", [x], {"axis": 1, "reverse": True}
        else:
            yield "cumsum", [positive(dtype, (70, 3000))], {"axis": 0, "exclusive": False}
    yield "sort", [numbers("float32", (1_000_000,))], {}


@family
def spreads():
    for dtype in FLOATS:
        x = positive(dtype, (37, 70_000))
        for op in ("variance", "std", "logsumexp", "euclidean_norm"):
            yield op, [x], {"axis": [1]}
            yield op, [x], {"axis": [0]}


@family
def picking():
    random = np.random.default_rng(8)
    for shape in [(300_000,), (70, 80, 9)]:
        mask = tf.constant(random.integers(0, 3, shape) == 0)
        yield "nonzero", [mask], {}
        yield "boolean_mask", [numbers("float32", shape), mask], {}
    rows = tf.constant(random.integers(0, 2, 5000).astype(bool))
    for dtype in [*FLOATS, "uint8", "complex64"]:
        yield "boolean_mask", [numbers(dtype, (3, 5000, 7)), rows], {"axis": 1}
    for dtype in [*FLOATS, "bool", "uint8", "int32", "int64"]:
        few = tf.cast(indices((300_000,), 1000), dtype)
        yield "unique", [few], {}
        yield "unique_with_counts", [few], {"out_idx": tf.int64}
    yield "unique", [indices((1_000_000,), 2**30)], {}


@family
def decompositions():
    random = np.random.default_rng(9)
    for dtype in ("float64", "complex128"):
        for shape in [(20, 30, 30), (3, 200, 50), (2, 40, 90)]:
            x = tf.cast(tf.constant(random.uniform(-1, 1, shape)), dtype)
            yield "svd", [x], {"compute_uv": False}
            if shape[-1] == shape[-2]:
                yield "eigh", [x], {"compute_v": False}
