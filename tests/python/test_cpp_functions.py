"""TensorFlow's functions that are more than an op give in C++ what they give in Python.

`build/function_twin` (tests/support/function_twin*.cpp) answers for C++; Python's answers are
compared with TensorFlow's elsewhere.
"""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from test_cpp_keras import line_of, read_line

import tidemark as tf

TWIN = Path(__file__).parents[2] / "build" / "function_twin"
pytestmark = pytest.mark.skipif(not TWIN.exists(), reason="build/function_twin is not built")


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def parts(*shape, seed=0):
    """Numbers from 0 to 1."""
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def positive(size, seed=0):
    x = numbers(size, size, seed=seed)
    return x @ x.T + np.eye(size, dtype=np.float32)


def complex_of(real, imag):
    return tf.complex(real, imag)


la, sg, nn, im = tf.linalg, tf.signal, tf.nn, tf.image
STRICT = [[1, 1, 1], [1, 2, 3]]
X = numbers(3, 4)
PICTURE = parts(6, 6, 3)
PICTURES = parts(2, 7, 6, 3)
BYTES = np.random.default_rng(1).integers(0, 256, (4, 5, 3)).astype(np.int32)
BOXES = np.array([[0, 0, 1, 1], [0, 0, 1, 0.9], [0, 2, 1, 3], [0, 2, 1, 2.5]], np.float32)


def fold(so_far, row):
    return so_far * 0.5 + row


def of_folds(x):
    ones = tf.ones([4])
    return tf.foldl(fold, x), tf.foldr(fold, x, ones), tf.scan(fold, x), tf.scan(fold, x, ones)


def of_rows(row):
    wide = tf.reshape(tf.tanh(row) * tf.reduce_sum(row), [2, 2])
    return tf.matmul(wide, tf.transpose(wide)) + row[1]


def risen(row):
    return tf.cond(tf.reduce_sum(row) > 0, lambda: row, lambda: -row)


ARRAYS = {
    "map_fn": (lambda x: tf.map_fn(lambda row: row * row, x), X),
    "folds": (of_folds, X),
    "map_fn_in_a_function": (lambda x: tf.reduce_sum(x, 1) + tf.reduce_sum(x), X),
    "vectorized_map": (lambda x: 2 * (tf.vectorized_map(of_rows, x),), X),
    "vectorized_map_loops": (lambda x: tf.vectorized_map(risen, x), X),
    "tensordot": (lambda a, b: tf.tensordot(a, b, 1), numbers(2, 3), numbers(3, 4)),
    "tensordot_pairs": (
        lambda a, b: tf.tensordot(a, b, [[0, 2], [1, 0]]), numbers(2, 3, 4), numbers(4, 2, 5)
    ),
    "one_hot": (lambda x: tf.one_hot(x, 4), np.array([[0, 3], [5, -1]])),
    "where_places": (tf.where, np.array([[0, 3], [5, 0]])),
    "divide": (tf.divide, np.array([7, -7]), np.array([2, 2])),
    "divide_floats": (tf.divide, X, numbers(4)),
    "scalar_mul": (lambda x: tf.scalar_mul(2.5, x), X),
    "saturate_cast_int8": (lambda x: tf.saturate_cast(x, tf.int8), np.array([-300, 7, 300])),
    "saturate_cast_uint8": (
        lambda x: tf.saturate_cast(x, tf.uint8), np.array([-3.5, 7.5, 300], np.float32)
    ),
    "saturate_cast_half": (
        lambda x: tf.saturate_cast(x, tf.float16), np.array([-1e6, 7.5, 1e6], np.float32)
    ),
    "norm": (tf.norm, X),
    "norm_1": (lambda x: tf.norm(x, ord=1, axis=1), X),
    "norm_3": (lambda x: tf.norm(x, ord=3, axis=0, keepdims=True), X),
    "norm_inf": (lambda x: tf.norm(x, ord=np.inf), X),
    "norm_matrix_1": (lambda x: tf.norm(x, ord=1, axis=[0, 1]), X),
    "norm_matrix_2": (lambda x: tf.norm(x, ord=2, axis=[-2, -1]), numbers(2, 3, 4)),
    "norm_matrix_inf": (lambda x: tf.norm(x, ord=np.inf, axis=[0, 1], keepdims=True), X),
    "clip_by_norm": (lambda x: tf.clip_by_norm(x, 1.5), X),
    "clip_by_norm_axes": (lambda x: tf.clip_by_norm(x, 0.5, [1]), X),
    "clip_by_global_norm": (
        lambda *x: (lambda out: [*out[0], out[1]])(tf.clip_by_global_norm(x, 1.0)), X, numbers(2)
    ),
    "histogram_fixed_width": (lambda x: tf.histogram_fixed_width(x, [-1.0, 1.0], 5), X),
    "meshgrid": (tf.meshgrid, numbers(2), numbers(3), numbers(4)),
    "meshgrid_ij": (lambda *x: tf.meshgrid(*x, indexing="ij"), numbers(2), numbers(3)),
    "sequence_mask": (tf.sequence_mask, np.array([[1, 0], [3, 2]])),
    "sequence_mask_maxlen": (
        lambda x: tf.sequence_mask(x, 5, tf.int32), np.array([1, 0, 7])
    ),
    "unravel_index": (lambda x: tf.unravel_index(x, [3, 4]), np.array([0, 5, 11])),
    "dynamic_partition": (
        lambda x, p: tf.dynamic_partition(x, p, 3), numbers(4, 2), np.array([2, 0, 0, 2])
    ),
    "dynamic_stitch": (
        lambda i, j, x, y: tf.dynamic_stitch([i, j], [x, y]),
        np.array([4, 0]), np.array([[1, 2]]), numbers(2, 3), numbers(1, 2, 3),
    ),
    "space_to_batch": (
        lambda x: tf.space_to_batch(x, [2, 3], [[0, 0], [1, 1]]), numbers(2, 4, 4, 2)
    ),
    "batch_to_space": (
        lambda x: tf.batch_to_space(x, [2, 2], [[0, 1], [1, 0]]), numbers(8, 2, 3, 2)
    ),
    "math.bincount": (tf.math.bincount, np.array([[1, 2, 2], [5, 0, 1]])),
    "math.bincount_weights": (
        lambda x, w: tf.math.bincount(x, w, minlength=9), np.array([1, 2, 2]), numbers(3)
    ),
    "math.bincount_rows": (
        lambda x: tf.math.bincount(x, axis=-1, maxlength=4), np.array([[1, 2, 2], [5, 0, 1]])
    ),
    "math.confusion_matrix": (
        tf.math.confusion_matrix, np.array([0, 2, 2, 1]), np.array([0, 1, 2, 1])
    ),
    "math.count_nonzero": (
        lambda x: tf.math.count_nonzero(x, 1), np.array([[0, 1, 2], [0, 0, -1]])
    ),
    "math.zero_fraction": (tf.math.zero_fraction, np.array([0, 1, 2, 0, 4])),
    "math.top_k": (lambda x: tf.math.top_k(x, 2), X),
    "math.approx_min_k": (lambda x: tf.math.approx_min_k(x, 2), X),
    "math.is_non_decreasing": (tf.math.is_non_decreasing, np.array(STRICT[0])),
    "math.is_strictly_increasing": (tf.math.is_strictly_increasing, np.array(STRICT[0])),
    "math.polyval": (
        lambda a, b, c, x: tf.math.polyval([a, b, c], x), *numbers(3)[:, None], X
    ),
    "math.reciprocal_no_nan": (tf.math.reciprocal_no_nan, np.array([2, 0, -4], np.float32)),
    "math.unsorted_segment_mean": (
        lambda x, i: tf.math.unsorted_segment_mean(x, i, 4),
        numbers(5, 2), np.array([3, 0, 3, 1, 0]),
    ),
    "math.unsorted_segment_sqrt_n": (
        lambda x, i: tf.math.unsorted_segment_sqrt_n(x, i, 4),
        numbers(5, 2), np.array([3, 0, 3, 1, 0]),
    ),
    "math.bessel_i0": (tf.math.bessel_i0, X),
    "math.bessel_i1": (tf.math.bessel_i1, X),
    "math.erfcinv": (tf.math.erfcinv, parts(5) + 0.5),
    "math.lbeta": (tf.math.lbeta, parts(2, 3) + 0.1),
    "random.stateless_categorical": (
        lambda x: tf.random.stateless_categorical(x, 20, [3, 4]), numbers(2, 5)
    ),
    "random.stateless_gamma": (
        lambda a, b: tf.random.stateless_gamma([5, 3], [3, 4], a, b), parts(3) + 0.5, parts(3) + 1
    ),
    "random.stateless_poisson": (
        lambda x: tf.random.stateless_poisson([5, 3], [3, 4], x), parts(3) * 9
    ),
    "random.stateless_binomial": (
        lambda n, p: tf.random.stateless_binomial([5, 3], [3, 4], n, p),
        np.array([3.0, 5.0, 9.0], np.float32), parts(3),
    ),
    "random.split": (lambda: tf.random.split(tf.constant([3, 4], tf.int64), 3),),
}  # fmt: skip


def of_lu(x, rhs):
    lu, p = la.lu(x)
    solved = la.lu_solve(lu, p, rhs)
    return lu, p, la.lu_reconstruct(lu, p), solved, la.lu_matrix_inverse(lu, p)


def of_qr(x):
    q, r = la.qr(x)
    return abs(q), abs(r), q @ r


def of_svd(x):
    s, u, v = la.svd(x)
    return s, abs(u), abs(v), s


def of_eigh(x):
    e, v = la.eigh(x)
    return e, abs(v), e


MATRICES = {
    "linalg.matvec": (la.matvec, numbers(2, 3, 4), numbers(2, 4)),
    "linalg.matvec_transpose": (
        lambda a, b: la.matvec(a, b, transpose_a=True), numbers(3, 4), numbers(3)
    ),
    "linalg.matrix_transpose": (la.matrix_transpose, numbers(2, 3, 4)),
    "linalg.adjoint": (lambda a, b: la.adjoint(complex_of(a, b)), X, numbers(3, 4, seed=1)),
    "linalg.cross": (la.cross, numbers(4, 3), numbers(4, 3, seed=1)),
    "linalg.diag": (la.diag, numbers(2, 3)),
    "linalg.diag_band": (
        lambda x: la.diag(x, k=(-1, 1), padding_value=9), numbers(2, 3, 4)
    ),
    "linalg.diag_rows": (lambda x: la.diag(x, k=1, num_rows=4), numbers(3)),
    "linalg.diag_part": (la.diag_part, numbers(2, 3, 4)),
    "linalg.diag_part_band": (lambda x: la.diag_part(x, k=(-1, 1), padding_value=7), X),
    "linalg.set_diag": (la.set_diag, numbers(2, 3, 3), numbers(2, 3)),
    "linalg.trace": (la.trace, numbers(2, 3, 3)),
    "linalg.tensor_diag": (la.tensor_diag, numbers(2, 3)),
    "linalg.tensor_diag_part": (la.tensor_diag_part, numbers(2, 3, 2, 3)),
    "linalg.l2_normalize": (la.l2_normalize, X),
    "linalg.l2_normalize_axis": (lambda x: la.l2_normalize(x, 1), X),
    "linalg.normalize": (lambda x: la.normalize(x, axis=1), X),
    "linalg.qr": (of_qr, numbers(4, 3)),
    "linalg.svd": (of_svd, numbers(4, 3)),
    "linalg.lu": (of_lu, numbers(3, 3), numbers(3, 2)),
    "linalg.eigh": (of_eigh, positive(4)),
    "linalg.eigvals": (
        lambda x: 2 * [tf.sort(tf.math.real(la.eigvals(x)))], numbers(4, 4)
    ),
    "linalg.eigh_tridiagonal": (la.eigh_tridiagonal, numbers(4), numbers(3)),
    "linalg.cholesky_solve": (
        lambda a, b: la.cholesky_solve(la.cholesky(a), b), positive(4), numbers(4, 2)
    ),
    "linalg.lstsq": (la.lstsq, numbers(5, 3), numbers(5, 2)),
    "linalg.lstsq_wide": (
        lambda a, b: la.lstsq(a, b, l2_regularizer=0.1), numbers(3, 5), numbers(3, 2)
    ),
    "linalg.lstsq_slow": (lambda a, b: la.lstsq(a, b, fast=False), numbers(5, 3), numbers(5, 2)),
    "linalg.pinv": (la.pinv, numbers(5, 3)),
    "linalg.matrix_rank": (
        la.matrix_rank, np.outer([1, 2, 3], [1, 2, 3]).astype(np.float32)
    ),
    "linalg.logdet": (la.logdet, positive(4)),
    "linalg.slogdet": (la.slogdet, numbers(2, 3, 3)),
    "linalg.tridiagonal_solve": (la.tridiagonal_solve, numbers(3, 4), numbers(4)),
    "linalg.tridiagonal_matmul": (la.tridiagonal_matmul, numbers(2, 3, 4), numbers(2, 4, 5)),
    "linalg.banded_triangular_solve": (
        la.banded_triangular_solve, numbers(2, 4) + 3, numbers(4, 2)
    ),
}  # fmt: skip


def of_dct(x):
    return (
        sg.dct(x, 1), sg.dct(x), sg.dct(x, 3), sg.dct(x, 4), sg.dct(x, n=4, norm="ortho"),
        sg.dct(x, 3, norm="ortho"), sg.idct(x, norm="ortho"),
    )  # fmt: skip


def again(x):
    window = sg.inverse_stft_window_fn(4)
    return sg.inverse_stft(sg.stft(x, 8, 4), 8, 4, window_fn=window)


def of_any_axes(a, b):
    z = complex_of(a, b)
    return (
        sg.fftnd(z), sg.ifftnd(z, axes=[0], norm="ortho"),
        sg.rfftnd(a, fft_length=[4, 5], norm="forward"), sg.irfftnd(z, axes=[-1, 0]),
    )  # fmt: skip


SIGNALS = {
    "signal.fftnd": (of_any_axes, X, numbers(3, 4, seed=1)),
    "signal.fft2d": (lambda a, b: sg.fft2d(complex_of(a, b)), X, numbers(3, 4, seed=1)),
    "signal.ifft3d": (
        lambda a, b: sg.ifft3d(complex_of(a, b)), numbers(2, 3, 4), numbers(2, 3, 4, seed=1)
    ),
    "signal.rfft": (sg.rfft, numbers(2, 9)),
    "signal.rfft_length": (lambda x: sg.rfft(x, [12]), numbers(2, 9)),
    "signal.rfft2d": (lambda x: sg.rfft2d(x, [3, 4]), numbers(2, 5, 2)),
    "signal.irfft": (lambda a, b: sg.irfft(complex_of(a, b)), X, numbers(3, 4, seed=1)),
    "signal.irfft2d": (
        lambda a, b: sg.irfft2d(complex_of(a, b), [4, 7]), X, numbers(3, 4, seed=1)
    ),
    "signal.fftshift": (sg.fftshift, numbers(3, 4)),
    "signal.ifftshift": (lambda x: sg.ifftshift(x, [1]), numbers(3, 5)),
    "signal.hann_window": (lambda: (sg.hann_window(8), sg.hann_window(7, periodic=False)),),
    "signal.hamming_window": (lambda: sg.hamming_window(9),),
    "signal.kaiser_window": (lambda: sg.kaiser_window(9, 4.0),),
    "signal.kaiser_bessel_derived_window": (lambda: sg.kaiser_bessel_derived_window(8),),
    "signal.vorbis_window": (lambda: sg.vorbis_window(8),),
    "signal.frame": (lambda x: sg.frame(x, 4, 3), numbers(2, 11)),
    "signal.frame_pad": (
        lambda x: sg.frame(x, 4, 3, pad_end=True, pad_value=2, axis=0), numbers(8, 2)
    ),
    "signal.overlap_and_add": (lambda x: sg.overlap_and_add(x, 2), numbers(2, 3, 5)),
    "signal.stft": (lambda x: sg.stft(x, 6, 2), numbers(2, 20)),
    "signal.inverse_stft": (again, numbers(24)),
    "signal.linear_to_mel_weight_matrix": (lambda: sg.linear_to_mel_weight_matrix(),),
    "signal.mfccs_from_log_mel_spectrograms": (
        sg.mfccs_from_log_mel_spectrograms, numbers(2, 8)
    ),
    "signal.dct": (of_dct, numbers(2, 6)),
    "signal.mdct": (lambda x: (sg.mdct(x, 8), sg.inverse_mdct(sg.mdct(x, 8))), numbers(24)),
}  # fmt: skip


def of_moments(x):
    mean, variance = nn.moments(x, [0, 1])
    return mean, variance, mean, variance


NN = {
    "nn.crelu": (nn.crelu, X),
    "nn.depthwise_conv2d": (
        lambda x, w: nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"),
        PICTURES, numbers(3, 3, 3, 2),
    ),
    "nn.depthwise_conv2d_backprop": (
        lambda x, w, dy: (
            nn.depthwise_conv2d_backprop_input([2, 7, 6, 3], w, dy, [1, 1, 1, 1], "VALID"),
            nn.depthwise_conv2d_backprop_filter(x, [3, 3, 3, 2], dy, [1, 1, 1, 1], "VALID"),
        ),
        PICTURES, numbers(3, 3, 3, 2), numbers(2, 5, 4, 6),
    ),
    "nn.separable_conv2d": (
        lambda x, w, v: nn.separable_conv2d(x, w, v, [1, 1, 1, 1], "VALID"),
        PICTURES, numbers(3, 3, 3, 2), numbers(1, 1, 6, 4),
    ),
    "nn.atrous_conv2d": (
        lambda x, w: nn.atrous_conv2d(x, w, 2, "SAME"), PICTURES, numbers(3, 3, 3, 2)
    ),
    "nn.conv1d_transpose": (
        lambda x, w: nn.conv1d_transpose(x, w, [2, 8, 3], 2), numbers(2, 4, 2), numbers(3, 3, 2)
    ),
    "nn.conv2d_transpose": (
        lambda x, w: nn.conv2d_transpose(x, w, [1, 9, 9, 3], 2, "VALID"),
        numbers(1, 4, 4, 2), numbers(3, 3, 3, 2),
    ),
    "nn.conv3d_transpose": (
        lambda x, w: nn.conv3d_transpose(x, w, [1, 2, 3, 4, 3], 1),
        numbers(1, 2, 3, 4, 2), numbers(2, 2, 2, 3, 2),
    ),
    "nn.max_pool1d": (lambda x: nn.max_pool1d(x, 2, 2, "VALID"), numbers(2, 7, 3)),
    "nn.avg_pool3d": (lambda x: nn.avg_pool3d(x, 2, 1, "SAME"), numbers(1, 3, 4, 5, 2)),
    "nn.pool": (
        lambda x: (nn.pool(x, [2, 2], "AVG"), nn.pool(x, [2, 2], "MAX")), PICTURES
    ),
    "nn.dilation2d": (
        lambda x, w: (
            nn.dilation2d(x, w, [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]),
            nn.dilation2d(x, w, [1, 2, 2, 1], "SAME", "NHWC", [1, 1, 1, 1]),
            nn.erosion2d(x, w, [1, 1, 1, 1], "VALID", "NHWC", [1, 2, 1, 1]),
        ),
        PICTURES, numbers(2, 3, 3),
    ),
    "nn.space_to_depth": (lambda x: (nn.space_to_depth(x, 2), x), numbers(2, 4, 6, 3)),
    "nn.embedding_lookup": (
        lambda t, i: (nn.embedding_lookup(t, i), nn.embedding_lookup(t, i, 0.5)),
        X, np.array([[0, 2], [2, 1]]),
    ),
    "nn.weighted_cross_entropy_with_logits": (
        lambda y, x: nn.weighted_cross_entropy_with_logits(y, x, 2.0), parts(3, 4), X
    ),
    "nn.log_poisson_loss": (
        lambda y, x: (nn.log_poisson_loss(y, x), nn.log_poisson_loss(y, x, True)),
        parts(3, 4) * 4, X,
    ),
    "nn.compute_average_loss": (
        lambda x, w: (nn.compute_average_loss(x), nn.compute_average_loss(x, w, 8)),
        parts(3, 4), parts(3),
    ),
    "nn.ctc_loss": (
        nn.ctc_loss, np.array([[1, 2], [3, 0]]), numbers(6, 2, 5), np.array([2, 1]),
        np.array([6, 5]),
    ),
    "nn.local_response_normalization": (
        lambda x: (nn.local_response_normalization(x), nn.lrn(x, 1)), numbers(2, 2, 3, 7)
    ),
    "nn.moments": (of_moments, numbers(2, 3, 4)),
    "nn.weighted_moments": (
        lambda x, w: nn.weighted_moments(x, [0], w), numbers(3, 4), parts(3, 1)
    ),
}  # fmt: skip


def of_crops(x):
    return (
        im.crop_to_bounding_box(x, 1, 2, 3, 2), im.pad_to_bounding_box(x, 1, 2, 9, 10),
        im.central_crop(x, 0.5), im.resize_with_crop_or_pad(x, 3, 9), im.resize_with_pad(x, 9, 5),
    )  # fmt: skip


def of_turns(x):
    return (
        im.flip_left_right(x), im.flip_up_down(x), im.transpose(x), im.rot90(x), im.rot90(x, 2),
        im.rot90(x, 3),
    )  # fmt: skip


def of_dtypes(x):
    pixels = tf.cast(x, tf.uint8)
    floats = im.convert_image_dtype(pixels, tf.float32)
    return (
        floats, im.convert_image_dtype(pixels, tf.uint16),
        im.convert_image_dtype(floats * 2.0, tf.uint8, saturate=True),
        im.rgb_to_grayscale(pixels),
    )  # fmt: skip


def of_colours(x):
    grey = im.rgb_to_grayscale(x)
    return (
        grey, im.rgb_to_hsv(x), im.hsv_to_rgb(x), im.rgb_to_yiq(x), im.yiq_to_rgb(x),
        im.rgb_to_yuv(x), im.yuv_to_rgb(x), im.grayscale_to_rgb(grey),
    )  # fmt: skip


def of_changes(x):
    return (
        im.adjust_brightness(x, 0.1), im.adjust_contrast(x, 1.5), im.adjust_gamma(x, 2, 0.5),
        im.adjust_hue(x, 0.2), im.adjust_saturation(x, 0.5), im.per_image_standardization(x),
    )  # fmt: skip


def of_chance(x):
    seed = [3, 4]
    return (
        im.stateless_random_flip_left_right(x, seed), im.stateless_random_flip_up_down(x, seed),
        im.stateless_random_brightness(x, 0.3, seed),
        im.stateless_random_contrast(x, 0.5, 2.0, seed), im.stateless_random_hue(x, 0.3, seed),
        im.stateless_random_saturation(x, 0.5, 2.0, seed),
        im.stateless_random_crop(x, [2, 3, 4, 1], seed),
    )  # fmt: skip


def of_patches(x):
    one = [1, 1, 1, 1]
    return (
        im.extract_patches(x, [1, 3, 2, 1], one, one, "VALID"),
        im.extract_patches(x, [1, 2, 3, 1], [1, 2, 1, 1], [1, 1, 2, 1], "SAME"),
    )


def of_boxes(x, boxes, which):
    nearest = im.crop_and_resize(x, boxes, which, [1, 2], "nearest", -1.0)
    return im.crop_and_resize(x, boxes, which, [3, 4]), nearest


PARTS = np.array([[0, 0, 1, 1], [0.2, 0.5, 0.9, 1.3], [0.8, 0.1, 0.1, 0.6]], np.float32)

IMAGES = {
    "image.stateless_random": (of_chance, PICTURES),
    "image.extract_patches": (of_patches, PICTURES),
    "image.crop_and_resize": (of_boxes, PICTURES, PARTS, np.array([0, 1, 1])),
    "image.crop": (of_crops, PICTURES),
    "image.turns": (of_turns, parts(4, 5, 2)),
    "image.convert_image_dtype": (of_dtypes, BYTES),
    "image.colours": (of_colours, PICTURE),
    "image.adjust": (of_changes, PICTURES),
    "image.psnr": (lambda a, b: im.psnr(a, b, 1.0), PICTURES, parts(2, 7, 6, 3, seed=1)),
    "image.ssim": (
        lambda a, b: (im.ssim(a, b, 1.0), im.ssim(a, b, 1.0, filter_size=3)),
        parts(2, 13, 12, 3), parts(2, 13, 12, 3, seed=1),
    ),
    "image.edges": (
        lambda x: (im.total_variation(x), *im.image_gradients(x), im.sobel_edges(x)), PICTURES
    ),
    "image.non_max_suppression": (
        lambda b, s: (
            im.non_max_suppression(b, s, 3), im.non_max_suppression(b, s, 3, score_threshold=0.5)
        ),
        BOXES, np.array([0.9, 0.8, 0.7, 0.3], np.float32),
    ),
}  # fmt: skip

sp = tf.sparse
FEW = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [5, 0, -3, 0]], np.float32)
OTHER = np.array([[1, -2, 0, 0], [0, 0, 0, 4], [-5, 0, 1, 0]], np.float32)


def three(x):
    return x.indices, x.values, x.dense_shape


def backwards(x):
    s = sp.from_dense(x)
    return three(sp.reorder(tf.SparseTensor(s.indices[::-1], s.values[::-1], s.dense_shape)))


def of_two(function):
    return lambda a, b: three(function(sp.from_dense(a), sp.from_dense(b)))


def of_one(function):
    return lambda x: three(function(sp.from_dense(x)))


def larger_and_smaller(a, b):
    both = sp.from_dense(a), sp.from_dense(b)
    return sp.to_dense(sp.maximum(*both)), sp.to_dense(sp.minimum(*both))


def reduced(x):
    s = sp.from_dense(x)
    return sp.reduce_sum(s), sp.reduce_sum(s, 1), sp.reduce_max(s, 0)


def products(x, a, b):
    s = sp.from_dense(x)
    turned = sp.sparse_dense_matmul(s, b, adjoint_a=True, adjoint_b=True)
    return sp.sparse_dense_matmul(s, a), turned


def of_decoders(scores, lengths):
    (greedy,), score = nn.ctc_greedy_decoder(scores, lengths)
    paths, probabilities = nn.ctc_beam_search_decoder(scores, lengths, top_paths=2)
    return (*three(greedy), score, *three(paths[0]), *three(paths[1]), probabilities)


SPARSE = {
    "sparse.from_dense": (of_one(lambda s: s), FEW),
    "sparse.to_dense": (lambda x: (x, sp.to_dense(sp.from_dense(x), -1.0)), FEW),
    "sparse.eye": (lambda: three(sp.eye(3, 5)),),
    "sparse.reorder": (backwards, FEW),
    "sparse.reshape": (of_one(lambda s: sp.reshape(s, [-1, 2])), FEW),
    "sparse.transpose": (of_one(sp.transpose), FEW),
    "sparse.expand_dims": (
        lambda x: of_one(sp.expand_dims)(x) + of_one(lambda s: sp.expand_dims(s, 1))(x), FEW
    ),
    "sparse.slice": (of_one(lambda s: sp.slice(s, [1, 0], [2, 9])), FEW),
    "sparse.concat": (of_two(lambda a, b: sp.concat(-1, [a, b])), FEW, OTHER),
    "sparse.reset_shape": (of_one(sp.reset_shape), np.pad(FEW, 2)),
    "sparse.add": (of_two(sp.add), FEW, OTHER),
    "sparse.maximum": (larger_and_smaller, FEW, OTHER),
    "sparse.reduce": (reduced, FEW),
    "sparse.softmax": (of_one(sp.softmax), FEW),
    "sparse.to_indicator": (
        lambda x: sp.to_indicator(sp.from_dense(x), 6), np.array([[0, 5, 1], [2, 0, 0]])
    ),
    "sparse.sparse_dense_matmul": (products, FEW, numbers(4, 2), numbers(5, 3)),
    "sets": (
        lambda a, b: sum(map(three, (
            tf.sets.intersection(a, b), tf.sets.union(a, b), tf.sets.difference(a, b),
            tf.sets.difference(a, b, aminusb=False),
        )), ()),
        np.array([[1, 2, 3], [4, 4, 5]]), np.array([[3, 1, 7], [5, 6, 6]]),
    ),
    "nn.ctc_decoders": (of_decoders, numbers(6, 2, 5), np.array([6, 4])),
    "sparse.segments": (
        lambda x, i, s: (
            sp.segment_sum(x, i, s), sp.segment_mean(x, i, s), sp.segment_sqrt_n(x, i, s)
        ),
        X, np.array([2, 0, 2]), np.array([0, 1, 1]),
    ),
}  # fmt: skip

CASES = {**ARRAYS, **MATRICES, **SIGNALS, **NN, **IMAGES, **SPARSE}


def answers_to(cases):
    """What C++ gives, for all cases in one process."""
    lines = []
    for name, (_, *given) in cases.items():
        lines += [f"{name} {len(given)}", *map(line_of, given)]
    done = subprocess.run(
        [TWIN], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=120
    )
    assert done.stderr == ""
    told, out = iter(done.stdout.splitlines()), {}
    for name in cases:
        out[name] = [read_line(next(told)) for _ in range(int(next(told)))]
    return out


@pytest.fixture(scope="module")
def answers():
    return answers_to(CASES)


def as_floats(results):
    """As the twin writes them."""
    results = results if isinstance(results, (list, tuple)) else [results]
    out = []
    for one in results:
        array = np.asarray(tf.cast(one, tf.float32) if one.dtype == tf.bfloat16 else one)
        kinds = [array.real, array.imag] if np.iscomplexobj(array) else [array]
        out += [part.astype(np.float32) for part in kinds]
    return out


def compare(found, function, *given):
    """What C++ found, with what Python's function gives."""
    expected = as_floats(function(*[tf.constant(one) for one in map(as_given, given)]))
    assert len(found) == len(expected)
    for mine, wanted in zip(found, expected, strict=True):
        assert mine.shape == wanted.shape
        np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_cpp_gives_what_python_gives(name, answers):
    compare(answers[name], *CASES[name])


def as_given(array):
    """In the dtype that the twin reads."""
    return array.astype(np.int32) if array.dtype.kind == "i" else array
