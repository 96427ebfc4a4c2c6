"""Ops traced with unknown sizes compute what they compute eagerly."""

import ast
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import tidemark as tf

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import record_tensorflow  # noqa: E402

pytestmark = pytest.mark.unwatched

DATA = Path(__file__).parent / "data"


def first_argument(expression):
    """The expression with its first argument, a literal of numbers, called ``x``; and that."""
    tree = ast.parse(expression, mode="eval")
    call = tree.body
    while isinstance(call, ast.Subscript):
        call = call.value
    if not isinstance(call, ast.Call) or not call.args:
        return None
    try:
        value = np.array(ast.literal_eval(call.args[0]))
    except (ValueError, SyntaxError):
        return None
    if value.dtype.kind not in "fib" or value.ndim == 0:
        return None
    kinds = {"f": np.float32, "i": np.int32, "b": np.bool_}
    x = value.astype(kinds[value.dtype.kind])
    call.args[0] = ast.Name("x", ast.Load())
    return ast.unparse(tree), x


# What is made from Python lists alone, or needs sizes while it is traced: in TensorFlow, too.
NEEDS_SIZES = (
    "tf.constant(", "tf.math.polyval(x", "tf.ragged.constant(", "tf.unstack(", "tf.dynamic_stitch(",
)  # fmt: skip


def recorded():
    for name in ("tf_results.json", "tf_composites.json"):
        for expression, result in json.loads((DATA / name).read_text()):
            found = None if isinstance(result, str) else first_argument(expression)
            if found is not None and not found[0].startswith(NEEDS_SIZES):
                yield found


# Python code around ops: (expression, shapes of x, y, …)
MORE = [
    ("tf.split(x, 2, axis=1)", [(3, 4)]),
    ("tf.split(x, [1, 3], axis=1)", [(3, 4)]),
    ("tf.ensure_shape(x, [None, 4])", [(3, 4)]),
    ("tf.linalg.diag_part(x)", [(2, 4, 4)]),
    ("tf.linalg.norm(x, axis=-1)", [(3, 4)]),
    ("tf.linalg.matmul(x, y, transpose_b=True)", [(3, 4), (5, 4)]),
    ("tf.linalg.band_part(x, 1, 0)", [(2, 4, 4)]),
    ("tf.linalg.inv(x + 5.0 * tf.eye(3))", [(2, 3, 3)]),
    ("tf.linalg.solve(x + 5.0 * tf.eye(3), y)", [(2, 3, 3), (2, 3, 1)]),
    ("tf.linalg.trace(x)", [(2, 3, 3)]),
    ("tf.linalg.cross(x, y)", [(2, 3), (2, 3)]),
    ("tf.tensordot(x, y, 1)", [(2, 3), (3, 4)]),
    ("tf.einsum('bij,bjk->bik', x, y)", [(2, 3, 4), (2, 4, 5)]),
    ("tf.nn.conv2d(x, y, 1, 'SAME')", [(2, 5, 5, 3), (3, 3, 3, 4)]),
    ("tf.nn.conv2d(x, y, 2, 'VALID')", [(2, 5, 5, 3), (3, 3, 3, 4)]),
    ("tf.nn.conv1d(x, y, 1, 'SAME')", [(2, 5, 3), (3, 3, 4)]),
    ("tf.nn.depthwise_conv2d(x, y, [1, 1, 1, 1], 'SAME')", [(2, 5, 5, 3), (3, 3, 3, 2)]),
    ("tf.nn.conv2d_transpose(x, y, [2, 10, 10, 3], 2)", [(2, 5, 5, 4), (3, 3, 3, 4)]),
    ("tf.nn.max_pool2d(x, 2, 2, 'VALID')", [(2, 4, 4, 3)]),
    ("tf.nn.avg_pool2d(x, 2, 1, 'SAME')", [(2, 4, 4, 3)]),
    ("tf.nn.softmax(x, axis=1)", [(2, 4, 3)]),
    ("tf.nn.log_softmax(x)", [(2, 4)]),
    ("tf.nn.moments(x, [0])", [(5, 3)]),
    ("tf.nn.batch_normalization(x, 0.1, 1.2, 0.3, 0.4, 1e-3)", [(5, 3)]),
    ("tf.nn.l2_normalize(x, 1)", [(5, 3)]),
    ("tf.nn.bias_add(x, tf.ones([3]))", [(5, 3)]),
    ("tf.nn.dropout(x, 0.0)", [(5, 3)]),
    ("tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1], x)", [(2, 3)]),
    ("tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(y), x)", [(2, 3), (2, 3)]),
    ("tf.nn.sigmoid_cross_entropy_with_logits(y, x)", [(2, 3), (2, 3)]),
    ("tf.nn.weighted_cross_entropy_with_logits(y, x, 2.0)", [(2, 3), (2, 3)]),
    ("tf.nn.embedding_lookup(x, [1, 0, 1])", [(4, 3)]),
    ("tf.nn.in_top_k([0, 1], x, 2)", [(2, 3)]),
    ("tf.nn.top_k(x, 2)", [(2, 3)]),
    ("tf.nn.local_response_normalization(x)", [(2, 4, 4, 3)]),
    ("tf.nn.space_to_depth(x, 2)", [(2, 4, 4, 3)]),
    ("tf.nn.gelu(x, approximate=True)", [(2, 3)]),
    ("tf.nn.leaky_relu(x)", [(2, 3)]),
    ("tf.nn.zero_fraction(x)", [(2, 3)]),
    ("tf.image.resize(x, [8, 6])", [(2, 4, 4, 3)]),
    ("tf.image.resize(x, [8, 6], method='nearest')", [(2, 4, 4, 3)]),
    ("tf.image.flip_left_right(x)", [(2, 4, 4, 3)]),
    ("tf.image.flip_up_down(x)", [(4, 4, 3)]),
    ("tf.image.rot90(x)", [(4, 5, 3)]),
    ("tf.image.rgb_to_grayscale(x)", [(2, 4, 4, 3)]),
    ("tf.image.adjust_brightness(x, 0.2)", [(2, 4, 4, 3)]),
    ("tf.image.adjust_contrast(x, 1.5)", [(2, 4, 4, 3)]),
    ("tf.image.central_crop(x, 0.5)", [(2, 4, 4, 3)]),
    ("tf.image.crop_to_bounding_box(x, 1, 1, 2, 2)", [(2, 4, 4, 3)]),
    ("tf.image.pad_to_bounding_box(x, 1, 1, 8, 8)", [(2, 4, 4, 3)]),
    ("tf.image.resize_with_crop_or_pad(x, 3, 6)", [(2, 4, 4, 3)]),
    ("tf.image.per_image_standardization(x)", [(2, 4, 4, 3)]),
    ("tf.image.total_variation(x)", [(2, 4, 4, 3)]),
    ("tf.image.psnr(x, y, 1.0)", [(2, 4, 4, 3), (2, 4, 4, 3)]),
    ("tf.image.convert_image_dtype(x, tf.uint8)", [(2, 4, 4, 3)]),
    ("tf.image.transpose(x)", [(2, 4, 5, 3)]),
    ("tf.image.extract_patches(x, [1,2,2,1], [1,2,2,1], [1,1,1,1], 'VALID')", [(2, 4, 4, 3)]),
    ("tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(x))", [(2, 4, 4, 3)]),
    ("tf.signal.frame(x, 4, 2)", [(2, 12)]),
    ("tf.signal.stft(x, 8, 4)", [(2, 32)]),
    ("tf.signal.rfft(x)", [(2, 8)]),
    ("tf.signal.fft(tf.cast(x, tf.complex64))", [(2, 8)]),
    ("tf.signal.overlap_and_add(x, 2)", [(2, 5, 4)]),
    ("tf.signal.dct(x)", [(2, 8)]),
    ("tf.signal.hann_window(8)", []),
    ("tf.math.segment_sum(x, [0, 0, 1])", [(3, 2)]),
    ("tf.math.unsorted_segment_mean(x, [0, 2, 0], 3)", [(3, 2)]),
    ("tf.math.reduce_variance(x, 0)", [(3, 2)]),
    ("tf.math.reduce_logsumexp(x, 1)", [(3, 2)]),
    ("tf.math.confusion_matrix([0, 1, 1], [1, 1, 0])", []),
    ("tf.math.l2_normalize(x, 0)", [(3, 2)]),
    ("tf.math.accumulate_n([x, x])", [(3, 2)]),
    ("tf.math.add_n([x, x, x])", [(3, 2)]),
    ("tf.math.cumulative_logsumexp(x, 1)", [(3, 2)]),
    ("tf.math.bincount(tf.cast(tf.abs(x) * 3.0, tf.int32), minlength=3)", [(6,)]),
    ("tf.histogram_fixed_width(x, [0.0, 1.0], 4)", [(6,)]),
    ("tf.clip_by_norm(x, 1.0)", [(3, 2)]),
    ("tf.clip_by_global_norm([x, x], 1.0)", [(3, 2)]),
    ("tf.meshgrid(x, y)", [(3,), (2,)]),
    ("tf.boolean_mask(x, x[:, 0] > 0.5)", [(4, 2)]),
    ("tf.boolean_mask(x, [True, False, True, True], axis=0)", [(4, 2)]),
    ("tf.gather(x, [1, 0], axis=1, batch_dims=0)", [(4, 2)]),
    ("tf.gather(x, [[1], [0]], batch_dims=1, axis=1)", [(2, 3)]),
    ("tf.gather_nd(x, [[0, 1], [1, 0]])", [(2, 3)]),
    ("tf.tensor_scatter_nd_update(x, [[1]], [[9.0, 9.0]])", [(3, 2)]),
    ("tf.searchsorted(tf.sort(x, -1), y)", [(2, 4), (2, 3)]),
    ("tf.unique(tf.cast(x * 3.0, tf.int32))", [(6,)]),
    ("tf.unique_with_counts(tf.cast(x * 3.0, tf.int32))", [(6,)]),
    ("tf.sequence_mask(tf.cast(tf.abs(x) * 4.0, tf.int32), 5)", [(3,)]),
    ("tf.sequence_mask(tf.cast(tf.abs(x) * 4.0, tf.int32))", [(3,)]),
    ("tf.one_hot(tf.cast(tf.abs(x), tf.int32), 3)", [(3,)]),
    ("tf.repeat(x, 2, axis=0)", [(3, 2)]),
    ("tf.repeat(x, [1, 0, 2], axis=0)", [(3, 2)]),
    ("tf.reverse_sequence(x, [1, 2, 2], seq_axis=1)", [(3, 2)]),
    ("tf.roll(x, [1], [0])", [(3, 2)]),
    ("tf.sort(x, axis=0, direction='DESCENDING')", [(3, 2)]),
    ("tf.squeeze(x, [1])", [(3, 1, 2)]),
    ("tf.squeeze(x)", [(3, 1, 2)]),
    ("tf.strided_slice(x, [0, 1], [2, 3])", [(3, 4)]),
    ("tf.slice(x, [0, 1], [-1, 2])", [(3, 4)]),
    ("x[..., tf.newaxis, ::2]", [(3, 4)]),
    ("x[-1], x[1:], x[:, -2:], x[::-1]", [(3, 4)]),
    ("tf.transpose(x)", [(3, 4, 2)]),
    ("x + tf.ones([3, 4]), tf.maximum(tf.zeros([3, 4]), x)", [(3, 4)]),
    ("tf.where(x > 0.5, x, y)", [(3, 4), (3, 4)]),
    ("tf.zeros_like(x), tf.ones_like(x), tf.fill(tf.shape(x), 2.0)", [(3, 4)]),
    ("tf.zeros([tf.shape(x)[0], 2]), tf.ones(tf.shape(x)[:1]), tf.range(tf.size(x))", [(3, 4)]),
    ("tf.eye(tf.shape(x)[0]), tf.eye(2, batch_shape=[3])", [(3, 4)]),
    ("tf.linspace(x, y, 3, axis=-1)", [(3,), (3,)]),
    ("tf.random.uniform([tf.shape(x)[0], 2]) < 2.0", [(3, 4)]),
    ("tf.random.stateless_normal(tf.shape(x), [1, 2])", [(3, 4)]),
    ("tf.random.shuffle(x)[:0]", [(3, 4)]),
    ("tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]])", [(2, 4, 4, 1)]),
    ("tf.batch_to_space(x, [2, 2], [[0, 0], [0, 0]])", [(8, 2, 2, 1)]),
    ("tf.ragged.boolean_mask(x, x > 0.3).to_tensor()", [(3, 4)]),
    ("tf.RaggedTensor.from_row_lengths(x, [1, 2, 0]).to_tensor()", [(3,)]),
    ("tf.RaggedTensor.from_tensor(x).values", [(3, 4)]),
    ("tf.sparse.to_dense(tf.sparse.from_dense(x))", [(3, 4)]),
    ("tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(x), y)", [(3, 4), (4, 2)]),
    ("tf.sparse.reduce_sum(tf.sparse.from_dense(x), 1)", [(3, 4)]),
    ("tf.identity_n([x, y])", [(3, 4), (2,)]),
    ("tf.broadcast_dynamic_shape(tf.shape(x), [1, 4])", [(3, 4)]),
    ("tf.math.polyval([1.0, 2.0], x)", [(3,)]),
    ("tf.math.erfinv(x * 0.9), tf.math.lgamma(x + 1.0), tf.math.igamma(x + 1.0, 0.5)", [(3,)]),
    ("tf.nn.ctc_loss([[1, 2]], x, [2], [5], logits_time_major=True)", [(5, 1, 4)]),
    ("tf.nn.pool(x, [2], 'MAX', strides=[2])", [(2, 4, 3)]),
    ("tf.nn.convolution(x, y, padding='SAME')", [(2, 4, 3), (2, 3, 5)]),
    ("tf.nn.separable_conv2d(x, y, tf.ones([1, 1, 6, 2]), [1, 1, 1, 1], 'SAME')",
     [(2, 4, 4, 3), (2, 2, 3, 2)]),
    ("tf.nn.atrous_conv2d(x, y, 2, 'SAME')", [(2, 6, 6, 3), (3, 3, 3, 2)]),
    ("tf.nn.erosion2d(x, y, [1,1,1,1], 'SAME', 'NHWC', [1,1,1,1])",
     [(2, 4, 4, 3), (2, 2, 3)]),
]  # fmt: skip


def inputs_of(shapes):
    rng = np.random.default_rng(0)
    return [tf.constant(rng.uniform(0.05, 0.95, shape).astype(np.float32)) for shape in shapes]


def agree(expression, values, keep_last):
    names = "xyz"[: len(values)]
    function = eval(f"lambda {', '.join(names)}: ({expression})", {"tf": tf})
    expected = record_tensorflow.described(function(*values))
    specs = []
    for value in values:
        sizes = [None] * value.ndim
        if keep_last:
            sizes[1:] = value.shape.as_list()[1:]
        specs.append(tf.TensorSpec(sizes, value.dtype))
    traced = tf.function(function, input_signature=specs)
    got = record_tensorflow.described(traced(*values))
    assert [part[:2] for part in got] == [part[:2] for part in expected]
    for (dtype, _, mine), (_, _, wanted) in zip(got, expected, strict=True):
        if dtype.startswith(("float", "bfloat", "complex")):
            np.testing.assert_allclose(
                [complex(*v) if isinstance(v, list) else float(v) for v in mine],
                [complex(*v) if isinstance(v, list) else float(v) for v in wanted],
                rtol=1e-5, atol=1e-6,
            )  # fmt: skip
        else:
            assert mine == wanted


@pytest.mark.parametrize(("expression", "x"), list(recorded()), ids=lambda v: str(v)[:60])
def test_recorded_expressions_with_unknown_sizes(expression, x):
    agree(expression, [tf.constant(x)], keep_last=False)


@pytest.mark.parametrize(
    ("expression", "shapes"),
    [case for case in MORE if not case[0].startswith(NEEDS_SIZES)],
    ids=lambda v: str(v)[:60],
)
def test_unknown_batch(expression, shapes):
    agree(expression, inputs_of(shapes), keep_last=True)


@pytest.mark.parametrize(
    ("expression", "shapes"),
    [case for case in MORE if not case[0].startswith(NEEDS_SIZES)],
    ids=lambda v: str(v)[:60],
)
def test_all_sizes_unknown(expression, shapes):
    agree(expression, inputs_of(shapes), keep_last=False)
