"""A long call of every op that is not elementwise: a tenth of a second or more on one thread, where
memory allows that. ``CALLS``: op, or op and what is special, → what makes the call."""

import functools
import zlib

import numpy as np
from tidemark._tidemark import call

import tidemark as tf

N = 1 << 23
SIDE = 1600


def one(op, *inputs, **attrs):
    """The call, as a function without arguments."""
    return lambda: call(op, inputs, attrs)


@functools.lru_cache(4)
def floats(*shape):
    return tf.constant(np.random.default_rng(0).normal(size=shape).astype(np.float32))


@functools.lru_cache(4)
def whole(most, *shape):
    return tf.constant(np.random.default_rng(0).integers(0, most, shape), tf.int32)


@functools.lru_cache(4)
def bits(*shape):
    return floats(*shape) > 0


@functools.lru_cache(4)
def square(n=SIDE):
    return floats(n, n)


@functools.lru_cache(4)
def positive(n=SIDE):
    return tf.matmul(square(n), square(n), transpose_b=True) + float(n) * tf.eye(n)


@functools.lru_cache(4)
def words(count=1 << 20):
    return tf.strings.join([tf.strings.as_string(tf.range(count)), " tide märk of "])


@functools.lru_cache(4)
def long_text(times=1 << 20):
    return tf.constant("a tide märk, 12 ".encode() * times)


@functools.lru_cache(4)
def pixels(*shape):
    return tf.constant(np.random.default_rng(0).integers(0, 255, shape), tf.uint8)


@functools.lru_cache(4)
def encoded(op):
    return call(op, (pixels(3000, 3000, 3),), {})


def shape(*sizes):
    return tf.constant(sizes, tf.int32)


def seed():
    return tf.constant([1, 2], tf.int32)


PICTURES = (16, 256, 256, 32)
WINDOW = {"ksize": (3, 3), "strides": (1, 1), "padding": "SAME"}
FILTERS = {"strides": (1, 1), "padding": "SAME"}
MANY = (1 << 14, 1 << 9)  # of N elements


def _ctc():
    frames, batch, classes, labels = 2000, 4, 100, 500
    lengths = tf.constant([labels] * batch), tf.constant([frames] * batch)
    return floats(frames, batch, classes), whole(classes - 1, batch, labels) + 1, *lengths


def _attention():
    return [floats(1, 4, 4096, 64)] * 3 + [tf.ones([1, 1, 1, 1], tf.bool)]


def _attention_grad():
    given = _attention()
    output, sums = call("attention", tuple(given), {})
    return one("attention_grad", *given, output, sums, output, tf.zeros_like(sums))


def _max_pool_grad():
    pooled = call("max_pool", (floats(*PICTURES),), WINDOW)
    return one("max_pool_grad", floats(*PICTURES), pooled, pooled, **WINDOW)


def _max_pool_take():
    pooled = call("max_pool", (floats(*PICTURES),), WINDOW)
    return one("max_pool_take", floats(*PICTURES), pooled, floats(*PICTURES), **WINDOW)


def _example():
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=list(range(1000))))
    made = tf.train.Example(features=tf.train.Features(feature={"k": feature}))
    return tf.fill([1 << 13], made.SerializeToString())


def _table(op):
    keys = tf.range(1 << 20)

    def make():
        table = tf.lookup.experimental.MutableHashTable(tf.int32, tf.int32, -1)
        if op != "insert":
            table.insert(keys, keys)
        return {
            "insert": lambda: table.insert(keys, keys),
            "find": lambda: table.lookup(keys),
            "remove": lambda: table.remove(keys),
            "export": table.export,
        }[op]

    return make


def _moments():
    mean, variance = tf.nn.moments(floats(*PICTURES), [0, 1, 2])
    return one(
        "batch_norm_grad", floats(*PICTURES), tf.ones([32]), mean, variance, floats(*PICTURES)
    )


def _sparse_loss():
    loss, sums = call("sparse_softmax_cross_entropy", (floats(*MANY), whole(512, MANY[0])), {})
    return one("sparse_softmax_cross_entropy_grad", floats(*MANY), whole(512, MANY[0]), sums, loss)


def _dense_loss():
    shares = tf.nn.softmax(floats(*MANY))
    loss, sums = call("softmax_cross_entropy", (floats(*MANY), shares), {})
    return one("softmax_cross_entropy_grad", floats(*MANY), shares, sums, loss)


def _sliced(op, *first, last=()):
    """With every other column of all rows but the first."""
    return one(op, *first, shape(1, 0), shape(*MANY), shape(1, 2), *last)


def _half():
    return floats(MANY[0] - 1, MANY[1] // 2)


# Views, sizes, a row or a header alone, and those that share the loops of one that is called.
BRIEF = {
    "array_cut", "array_read", "diag_part", "ensure_shape", "expand_dims", "extract_jpeg_shape",
    "identity", "imag", "rank", "reshape", "shape", "size", "squeeze", "stop_gradient",
    "stream_random_normal", "stream_random_truncated_normal", "stream_random_uniform", "zeros_like",
}  # fmt: skip

CALLS = {
    "add_n": lambda: one("add_n", *[floats(N)] * 8),
    "array_write": lambda: one("array_write", floats(*MANY), 3, floats(MANY[1])),
    "array_resize": lambda: one("array_resize", floats(*MANY), 2 * MANY[0]),
    "attention": lambda: one("attention", *_attention()),
    "attention_grad": _attention_grad,
    "diag_parts": lambda: one("diag_parts", square(3000), 0.0, k_low=-1000, k_high=1000),
    "set_diags": lambda: one(
        "set_diags", square(3000),
        call("diag_parts", (square(3000), 0.0), {"k_low": -1000, "k_high": 1000}),
        k_low=-1000, k_high=1000,
    ),
    "tridiagonal_solve": lambda: one(
        "tridiagonal_solve", floats(3, 1 << 18) + 3.0, floats(1 << 18, 16)
    ),
    "batch_norm": lambda: one("batch_norm", floats(*PICTURES), tf.ones([32]), tf.ones([32])),
    "batch_norm_grad": _moments,
    "bitcast": lambda: one("bitcast", floats(N), type=tf.int32),
    "complex": lambda: one("complex", floats(N), floats(N)),
    "conj": lambda: one("conj", tf.cast(floats(N), tf.complex64)),
    "real": lambda: one("real", tf.cast(floats(N), tf.complex64)),
    "ones_like": lambda: one("ones_like", floats(4 * N)),
    "convolution": lambda: one("convolution", floats(*PICTURES), floats(3, 3, 32, 64), **FILTERS),
    "convolution_input_grad": lambda: one(
        "convolution_input_grad", shape(*PICTURES), floats(3, 3, 32, 32), floats(*PICTURES),
        **FILTERS,
    ),
    "convolution_filter_grad": lambda: one(
        "convolution_filter_grad", floats(*PICTURES), shape(3, 3, 32, 32), floats(*PICTURES),
        **FILTERS,
    ),
    "ctc_loss": lambda: one("ctc_loss", *_ctc()),
    "ctc_loss_grad": lambda: one("ctc_loss_grad", tf.ones([4]), *_ctc()),
    "ctc_greedy_decode": lambda: one(
        "ctc_greedy_decode", floats(8000, 1, 1000), tf.constant([8000])
    ),
    "ctc_beam_search_decode": lambda: one(
        "ctc_beam_search_decode", floats(200, 1, 1000), tf.constant([200]), beam_width=200
    ),
    "ctc_beam_search_decode of a wide beam": lambda: one(
        "ctc_beam_search_decode", floats(4, 1, 10000), tf.constant([4]), beam_width=500
    ),
    "non_max_suppression": lambda: one(
        "non_max_suppression", tf.tile(tf.zeros([1, 4]), [20000, 1]), tf.range(20000.0), 20000
    ),
    "non_max_suppression of many": lambda: one(
        "non_max_suppression", floats(1 << 20, 4), floats(1 << 20), 10
    ),
    "draw_bounding_boxes": lambda: one(
        "draw_bounding_boxes", floats(4, 1000, 1000, 3), tf.abs(floats(4, 20000, 4)),
        tf.zeros([0, 0]),
    ),
    "set_operation": lambda: one(
        "set_operation", whole(10**6, 1, 1 << 20), whole(10**6, 1, 1 << 20), set_operation="a-b"
    ),
    "qr": lambda: one("qr", square(1000)),
    "qr of all": lambda: one("qr", floats(3000, 100), full_matrices=True),
    "eigh": lambda: one("eigh", positive(600)),
    "eig": lambda: one("eig", square(200)),
    "expm": lambda: one("expm", square(300)),
    "logm": lambda: one("logm", tf.cast(positive(150), tf.complex64)),
    "sqrtm": lambda: one("sqrtm", positive(200)),
    "svd": lambda: one("svd", square(300)),
    "fft": lambda: one("fft", tf.cast(floats(N), tf.complex64)),
    "fft of an odd length": lambda: one("fft", tf.cast(floats(N - 9), tf.complex64)),
    "rfft": lambda: one("rfft", floats(N)),
    "irfft": lambda: one("irfft", tf.cast(floats(1 << 20), tf.complex64), length=(1 << 21) - 2),
    "fill": lambda: one("fill", shape(8 * N), 1.0),
    "gather": lambda: one("gather", floats(N), whole(N, N)),
    "gather of rows": lambda: one("gather", floats(8, N), whole(8, 16)),
    "gather of a batch": lambda: one(
        "gather", floats(8, 1000, 1000), whole(1000, 8, 3000), axis=2, batch_dims=1
    ),
    "gather_grad": lambda: one("gather_grad", whole(N, N), floats(N), shape(N)),
    "gather_nd": lambda: one("gather_nd", floats(N), whole(N, N, 1)),
    "gather_nd_grad": lambda: one("gather_nd_grad", whole(N, N, 1), floats(N), shape(N)),
    "one_hot": lambda: one("one_hot", whole(512, 1 << 16), 512, 1.0, 0.0),
    "nonzero": lambda: one("nonzero", bits(8 * N)),
    "boolean_mask": lambda: one("boolean_mask", floats(2 * N), bits(2 * N)),
    "decode_image_file of PNG": lambda: one("decode_image_file", encoded("encode_png")),
    "decode_image_file of JPEG": lambda: one("decode_image_file", encoded("encode_jpeg")),
    "decode_image_file of progressive JPEG": lambda: one(
        "decode_image_file",
        call("encode_jpeg", (pixels(2000, 2000, 3),), {"progressive": True}),
    ),
    "encode_png": lambda: one("encode_png", pixels(3000, 3000, 3)),
    "encode_jpeg": lambda: one("encode_jpeg", pixels(3000, 3000, 3)),
    "encode_jpeg in passes": lambda: one(
        "encode_jpeg", pixels(2000, 2000, 3), progressive=True, optimize_size=True
    ),
    "decode_wav": lambda: one(
        "decode_wav", call("encode_wav", (floats(2 * N, 1), tf.constant(48000)), {})
    ),
    "encode_wav": lambda: one("encode_wav", floats(2 * N, 1), tf.constant(48000)),
    "decode_compressed": lambda: one(
        "decode_compressed", tf.constant(zlib.compress(bytes(100 << 20))), compression_type="ZLIB"
    ),
    "decode_raw": lambda: one(
        "decode_raw", tf.constant(bytes(256 << 20)), out_type=tf.int32, little_endian=False
    ),
    "split_csv": lambda: one("split_csv", tf.fill([1 << 19], "1,2,tide,mark"), columns=4),
    "split_csv of long records": lambda: one("split_csv", long_text(), columns=1 + (1 << 20)),
    "encode_base64": lambda: one("encode_base64", long_text(1 << 22)),
    "decode_base64": lambda: one("decode_base64", call("encode_base64", (long_text(1 << 22),), {})),
    "serialize_tensor": lambda: one("serialize_tensor", words()),
    "parse_tensor": lambda: one(
        "parse_tensor", call("serialize_tensor", (words(),), {}), out_type=tf.string
    ),
    "parse_example_fixed": lambda: one(
        "parse_example_fixed", _example(), tf.zeros([0], tf.int64), key="k", dense_shape=(1000,)
    ),
    "parse_example_var": lambda: one("parse_example_var", _example(), key="k", dtype=tf.int64),
    "unstack": lambda: one("unstack", floats(1 << 20, 8), num=8, axis=1),
    "split": lambda: one("split", floats(1 << 20, 8), num=4, axis=1),
    "repeat": lambda: one("repeat", floats(N), whole(3, N)),
    "layer_norm_grad": lambda: one(
        "layer_norm_grad", floats(*MANY), tf.ones([MANY[1]]), floats(MANY[0]), floats(MANY[0]),
        floats(*MANY),
    ),
    "rms_norm_grad": lambda: one(
        "rms_norm_grad", floats(*MANY), tf.ones([MANY[1]]), floats(MANY[0]), floats(*MANY)
    ),
    "table_insert": _table("insert"),
    "table_find": _table("find"),
    "table_remove": _table("remove"),
    "table_export": _table("export"),
    "matmul": lambda: one("matmul", square(3000), square(3000)),
    "matmul of bfloat16": lambda: one(
        "matmul", *[tf.cast(square(3000), tf.bfloat16)] * 2
    ),
    "matmul of float16": lambda: one("matmul", *[tf.cast(square(1000), tf.float16)] * 2),
    "matmul of whole numbers": lambda: one("matmul", *[whole(9, 1500, 1500)] * 2),
    "matmul of complex numbers": lambda: one("matmul", *[tf.cast(square(), tf.complex128)] * 2),
    "matmul with a vector": lambda: one("matmul", square(8000), floats(8000, 1)),
    "band_part": lambda: one("band_part", square(5000), 3, 3),
    "diag": lambda: one("diag", floats(5000)),
    "set_diag": lambda: one("set_diag", square(5000), floats(5000)),
    "max_pool": lambda: one("max_pool", floats(*PICTURES), **WINDOW),
    "max_pool_with_argmax": lambda: one("max_pool_with_argmax", floats(*PICTURES), **WINDOW),
    "max_pool_grad": _max_pool_grad,
    "max_pool_take": _max_pool_take,
    "avg_pool": lambda: one("avg_pool", floats(*PICTURES), **WINDOW),
    "avg_pool_grad": lambda: one(
        "avg_pool_grad", shape(*PICTURES), floats(*PICTURES), **WINDOW
    ),
    "stateless_random_normal": lambda: one("stateless_random_normal", shape(4 * N), seed()),
    "stateless_random_truncated_normal": lambda: one(
        "stateless_random_truncated_normal", shape(2 * N), seed()
    ),
    "stateless_random_uniform": lambda: one("stateless_random_uniform", shape(8 * N), seed()),
    "stateless_random_uniform_int": lambda: one(
        "stateless_random_uniform_int", shape(4 * N), seed(), 0, 9
    ),
    "stateless_random_full_int": lambda: one("stateless_random_full_int", shape(8 * N), seed()),
    "stateless_random_gamma": lambda: one("stateless_random_gamma", shape(1 << 22), seed(), 2.0),
    "stateless_random_poisson": lambda: one(
        "stateless_random_poisson", shape(1 << 22), seed(), 20.0
    ),
    "stateless_random_binomial": lambda: one(
        "stateless_random_binomial", shape(1 << 22), seed(), 100.0, 0.5
    ),
    "random_shuffle": lambda: one("random_shuffle", floats(4 * N)),
    "stateless_random_shuffle": lambda: one("stateless_random_shuffle", floats(N), seed()),
    "range": lambda: one("range", 0, 16 * N, 1),
    "linspace": lambda: one("linspace", 0.0, 1.0, 8 * N),
    "reverse": lambda: one("reverse", floats(N), axis=(0,)),
    "roll": lambda: one("roll", floats(*MANY), 3, axis=1),
    "mirror_pad_grad": lambda: one("mirror_pad_grad", floats(N), tf.constant([[3, 3]])),
    "reverse_sequence": lambda: one(
        "reverse_sequence", floats(*MANY), whole(500, MANY[0]), seq_axis=1, batch_axis=0
    ),
    **{
        f"{op} {where}": lambda op=op, axis=axis: one(
            op, floats(N) if axis is None else floats(*MANY), axis=axis
        )
        for op in ("sum", "mean", "prod", "min", "max", "logsumexp", "variance", "std",
                   "euclidean_norm")
        for where, axis in (("of all", None), ("down", 0), ("along", 1))
    },
    "any": lambda: one("any", tf.zeros([16 * N], tf.bool)),
    "all": lambda: one("all", tf.ones([16 * N], tf.bool)),
    "resize_images by bicubic": lambda: one(
        "resize_images", floats(1, 1000, 1000, 3), shape(3000, 3000), method="bicubic"
    ),
    "resize_images by lanczos5": lambda: one(
        "resize_images", floats(1, 1000, 1000, 3), shape(3000, 3000), method="lanczos5"
    ),
    "resize_images to one pixel": lambda: one(
        "resize_images", floats(1, 4000, 4000, 3), shape(1, 1), method="area"
    ),
    "resize_images_grad": lambda: one(
        "resize_images_grad", floats(1, 3000, 3000, 3), shape(1000, 1000), method="bicubic"
    ),
    "cumsum": lambda: one("cumsum", floats(8 * N)),
    "cumsum down": lambda: one("cumsum", floats(*MANY), axis=0),
    "cumprod": lambda: one("cumprod", tf.cast(floats(N), tf.complex64)),
    "cumulative_logsumexp": lambda: one("cumulative_logsumexp", floats(N)),
    "cumulative_logsumexp down": lambda: one("cumulative_logsumexp", floats(*MANY), axis=0),
    "argmax": lambda: one("argmax", floats(8 * N), axis=0),
    "argmin down": lambda: one("argmin", floats(*MANY), axis=0),
    "scatter_nd": lambda: one("scatter_nd", whole(N, N, 1), floats(N), shape(N)),
    **{
        f"tensor_scatter_nd_{kind}": lambda kind=kind: one(
            f"tensor_scatter_nd_{kind}", floats(N), whole(N, N, 1), floats(N)
        )
        for kind in ("update", "add", "sub", "min", "max")
    },
    **{
        f"unsorted_segment_{kind}": lambda kind=kind: one(
            f"unsorted_segment_{kind}", floats(N), whole(1000, N), 1000
        )
        for kind in ("sum", "prod", "max", "min")
    },
    **{
        f"segment_{kind}": lambda kind=kind: one(
            f"segment_{kind}", floats(4 * N), tf.range(4 * N) // 1000
        )
        for kind in ("sum", "mean", "prod", "max", "min")
    },
    "broadcast_to": lambda: one("broadcast_to", floats(1, MANY[1]), shape(*MANY)),
    "slice": lambda: one("slice", floats(*MANY), shape(0, 1), shape(MANY[0], MANY[1] - 1)),
    "strided_slice": lambda: _sliced("strided_slice", floats(*MANY)),
    "strided_slice_grad": lambda: _sliced("strided_slice_grad", shape(*MANY), last=[_half()]),
    "tensor_strided_slice_update": lambda: _sliced(
        "tensor_strided_slice_update", floats(*MANY), last=[_half()]
    ),
    "softmax_grad": lambda: one("softmax_grad", floats(*MANY), floats(*MANY), axis=-1),
    "softmax of one line": lambda: one("softmax", floats(2 * N), axis=-1),
    "softmax down": lambda: one("softmax", floats(*MANY), axis=0),
    "log_softmax": lambda: one("log_softmax", floats(2 * N), axis=-1),
    "log_softmax_grad": lambda: one("log_softmax_grad", floats(2 * N), floats(2 * N), axis=-1),
    "sparse_softmax_cross_entropy": lambda: one(
        "sparse_softmax_cross_entropy", floats(*MANY), whole(512, MANY[0])
    ),
    "sparse_softmax_cross_entropy_grad": _sparse_loss,
    "softmax_cross_entropy": lambda: one("softmax_cross_entropy", floats(*MANY), floats(*MANY)),
    "softmax_cross_entropy_grad": _dense_loss,
    "cholesky": lambda: one("cholesky", positive(3000)),
    "triangular_solve": lambda: one("triangular_solve", positive(), square()),
    "triangular_solve of an adjoint": lambda: one(
        "triangular_solve", positive(), square(), lower=False, adjoint=True
    ),
    "matrix_solve": lambda: one("matrix_solve", positive(), square()),
    "matrix_solve of complex numbers": lambda: one(
        "matrix_solve", tf.cast(positive(1000), tf.complex128), tf.cast(square(1000), tf.complex128)
    ),
    "matrix_inverse": lambda: one("matrix_inverse", square()),
    "matrix_determinant": lambda: one("matrix_determinant", square(3000)),
    "log_matrix_determinant": lambda: one("log_matrix_determinant", square(3000)),
    "lu": lambda: one("lu", square(3000)),
    "sort": lambda: one("sort", floats(N)),
    "argsort": lambda: one("argsort", floats(1 << 21)),
    "top_k": lambda: one("top_k", floats(N), 1 << 18),
    "in_top_k": lambda: one("in_top_k", whole(512, MANY[0]), floats(*MANY), k=5),
    "unique": lambda: one("unique", whole(10**6, 1 << 22)),
    "unique_with_counts": lambda: one("unique_with_counts", words()),
    "searchsorted": lambda: one(
        "searchsorted", tf.reshape(tf.sort(floats(N)), [1, N]), floats(1, 1 << 21)
    ),
    "invert_permutation": lambda: one("invert_permutation", tf.range(4 * N)),
    "bincount": lambda: one("bincount", whole(1000, 2 * N), 1000, tf.zeros([0])),
    "transpose": lambda: one("transpose", floats(*MANY), perm=(1, 0)),
    "concat": lambda: one("concat", floats(*MANY), floats(*MANY), axis=1),
    "stack": lambda: one("stack", floats(N), floats(N), axis=1),
    "tile": lambda: one("tile", floats(1024, 1024), shape(8, 4)),
    "pad": lambda: one("pad", floats(*MANY), tf.constant([[1, 1], [1, 1]]), 0.0),
    "select": lambda: one("select", bits(N), floats(N), 0.0),
    "zeta": lambda: one("zeta", tf.abs(floats(1 << 20)) + 2.0, tf.abs(floats(1 << 20)) + 1.0),
    "igamma": lambda: one("igamma", tf.abs(floats(1 << 20)), tf.abs(floats(1 << 20))),
    "pow": lambda: one("pow", tf.abs(floats(N)), floats(N)),
    "cast": lambda: one("cast", floats(4 * N), dtype=tf.float64),
    "string_length": lambda: one("string_length", long_text(1 << 24), unit="UTF8_CHAR"),
    "string_length of many": lambda: one("string_length", tf.fill([4 * N], "tide")),
    "string_substr": lambda: one(
        "string_substr", words(), tf.constant(1), tf.constant(9), unit="UTF8_CHAR"
    ),
    "string_join": lambda: one("string_join", *[words()] * 4, separator=", "),
    "string_lower": lambda: one("string_lower", long_text(1 << 22), encoding="utf-8"),
    "string_upper": lambda: one("string_upper", words()),
    "string_strip": lambda: one("string_strip", words()),
    "string_to_number": lambda: one("string_to_number", tf.fill([1 << 21], "1.2345e3")),
    "string_to_hash_bucket": lambda: one("string_to_hash_bucket", words(), num_buckets=9),
    "string_to_hash_bucket_fast": lambda: one("string_to_hash_bucket_fast", words(), num_buckets=9),
    "string_to_hash_bucket_strong": lambda: one(
        "string_to_hash_bucket_strong", words(), num_buckets=9, key=(1, 2)
    ),
    "regex_full_match": lambda: one("regex_full_match", words(), "[0-9]+ t.*"),
    "regex_replace": lambda: one("regex_replace", words(), "([0-9])", "<\\1>"),
    "regex_replace of a long text": lambda: one("regex_replace", long_text(), "([0-9])", "<\\1>"),
    "string_split": lambda: one("string_split", words()),
    "string_split of a long text": lambda: one("string_split", long_text(), sep=","),
    "string_bytes_split": lambda: one("string_bytes_split", long_text(1 << 18)),
    "string_ngrams": lambda: one(
        "string_ngrams", words(), tf.constant([0, 1 << 20], tf.int64), ngram_widths=(3,)
    ),
    "unicode_decode": lambda: one("unicode_decode", long_text(), input_encoding="UTF-8"),
    "unicode_encode": lambda: one(
        "unicode_encode", tf.fill([4 << 20], 228), tf.constant([0, 4 << 20], tf.int64),
        output_encoding="UTF-8",
    ),
    "unicode_transcode": lambda: one(
        "unicode_transcode", long_text(), input_encoding="UTF-8", output_encoding="UTF-16-BE"
    ),
    "as_string": lambda: one("as_string", floats(1 << 20)),
    "as_string with filling": lambda: one("as_string", words(1 << 10), width=20000),
    "tensor_summary": lambda: one("tensor_summary", floats(1 << 20), summarize=-1),
    "string_segment_join": lambda: one(
        "string_segment_join", tf.reshape(words(), [-1, 1]), whole(9, 1 << 20), 9
    ),
    "string_reduce_join": lambda: one("string_reduce_join", words(), axis=(0,), separator=", "),
    "gather of strings": lambda: one("gather", words(), whole(1 << 20, 1 << 20)),
    "tf.image.crop_and_resize": lambda: lambda: tf.image.crop_and_resize(
        floats(1, 1000, 1000, 3), tf.abs(floats(8, 4)), tf.zeros([8], tf.int32), [1000, 1000]
    ),
}  # fmt: skip
