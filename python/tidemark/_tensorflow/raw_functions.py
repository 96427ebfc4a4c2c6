"""Operations of ``tf.raw_ops`` that are public functions with their arguments in another order.

A line: the operation, the function, and the operation's inputs and attributes in the order of the
function's parameters; ``axis=concat_dim`` gives ``concat_dim`` as the parameter ``axis``.
"""

from __future__ import annotations

import functools

import tidemark as tf
from tidemark._tensorflow import raw_layouts
from tidemark._tidemark import call
from tidemark._v1.graph_def import op_defs, raw_calls

_TABLE = """
AdjustContrastv2 tf.image.adjust_contrast images contrast_factor
AdjustHue tf.image.adjust_hue images delta
AdjustSaturation tf.image.adjust_saturation images scale
AvgPool3D tf.nn.avg_pool3d input ksize strides padding data_format
BatchToSpaceND tf.batch_to_space input block_shape crops
BesselI0 tf.math.special.bessel_i0 x
BesselI1 tf.math.special.bessel_i1 x
BesselJ0 tf.math.special.bessel_j0 x
BesselJ1 tf.math.special.bessel_j1 x
BesselK0 tf.math.special.bessel_k0 x
BesselK0e tf.math.special.bessel_k0e x
BesselK1 tf.math.special.bessel_k1 x
BesselK1e tf.math.special.bessel_k1e x
BesselY0 tf.math.special.bessel_y0 x
BesselY1 tf.math.special.bessel_y1 x
Cross tf.linalg.cross a b
Dawsn tf.math.special.dawsn x
DecodeBmp tf.io.decode_bmp contents channels
DecodeGif tf.io.decode_gif contents
DecodeJpeg tf.io.decode_jpeg contents channels ratio fancy_upscaling
DecodePng tf.io.decode_png contents channels dtype
DecodeWav tf.audio.decode_wav contents desired_channels desired_samples
Diag tf.linalg.tensor_diag diagonal
DiagPart tf.linalg.tensor_diag_part input
DynamicPartition tf.dynamic_partition data partitions num_partitions
DynamicStitch tf.dynamic_stitch indices data
EncodeJpeg tf.io.encode_jpeg image format quality
EncodePng tf.io.encode_png image compression
EncodeWav tf.audio.encode_wav audio sample_rate
Expint tf.math.special.expint x
ExtractImagePatches tf.image.extract_patches images ksizes strides rates padding
ExtractJpegShape tf.image.extract_jpeg_shape contents output_type
ExtractVolumePatches tf.extract_volume_patches input ksizes strides padding
FFT tf.signal.fft input
FFT2D tf.signal.fft2d input
FFT3D tf.signal.fft3d input
FresnelCos tf.math.special.fresnel_cos x
FresnelSin tf.math.special.fresnel_sin x
HistogramFixedWidth tf.histogram_fixed_width values value_range nbins dtype
HSVToRGB tf.image.hsv_to_rgb images
IFFT tf.signal.ifft input
IFFT2D tf.signal.ifft2d input
IFFT3D tf.signal.ifft3d input
IRFFT tf.signal.irfft input fft_length
IRFFT2D tf.signal.irfft2d input fft_length
IRFFT3D tf.signal.irfft3d input fft_length
InTopK tf.math.in_top_k targets predictions k
Inv tf.math.reciprocal x
LRN tf.nn.local_response_normalization input depth_radius bias alpha beta
ListDiff tf.compat.v1.setdiff1d x y out_idx
Lu tf.linalg.lu input output_idx_type
MatchingFiles tf.io.matching_files pattern
MatrixDiagPartV2 tf.linalg.diag_part input k=k padding_value=padding_value
MatrixLogarithm tf.linalg.logm input
MatrixSetDiagV2 tf.linalg.set_diag input diagonal k=k
MatrixSolveLs tf.linalg.lstsq matrix rhs l2_regularizer fast
MaxPool3D tf.nn.max_pool3d input ksize strides padding data_format
NonMaxSuppressionV2 tf.image.non_max_suppression boxes scores max_output_size iou_threshold
ParallelDynamicStitch tf.dynamic_stitch indices data
ParseTensor tf.io.parse_tensor serialized out_type
RFFT tf.signal.rfft input fft_length
RFFT2D tf.signal.rfft2d input fft_length
RFFT3D tf.signal.rfft3d input fft_length
RGBToHSV tf.image.rgb_to_hsv images
ReduceJoin tf.compat.v1.reduce_join inputs reduction_indices keep_dims separator
SerializeTensor tf.io.serialize_tensor tensor
SobolSample tf.math.sobol_sample dim num_results skip dtype
SpaceToBatchND tf.space_to_batch_nd input block_shape paddings
SparseSegmentMean tf.sparse.segment_mean data indices segment_ids
SparseSegmentMeanWithNumSegments tf.sparse.segment_mean data indices segment_ids num_segments
SparseSegmentSqrtN tf.sparse.segment_sqrt_n data indices segment_ids
SparseSegmentSqrtNWithNumSegments tf.sparse.segment_sqrt_n data indices segment_ids num_segments
SparseSegmentSum tf.sparse.segment_sum data indices segment_ids
SparseSegmentSumWithNumSegments tf.sparse.segment_sum data indices segment_ids num_segments
SparseToDense tf.compat.v1.sparse_to_dense sparse_indices output_shape sparse_values default_value
Spence tf.math.special.spence x
StatelessMultinomial tf.random.stateless_categorical logits num_samples seed output_dtype
StatelessRandomBinomial tf.random.stateless_binomial shape seed counts probs dtype
StatelessRandomNormal tf.random.stateless_normal shape seed dtype=dtype
StatelessRandomUniform tf.random.stateless_uniform shape seed dtype=dtype
StatelessTruncatedNormal tf.random.stateless_truncated_normal shape seed dtype=dtype
StringToHashBucket tf.compat.v1.string_to_hash_bucket string_tensor num_buckets
StringToHashBucketStrong tf.strings.to_hash_bucket_strong input num_buckets key
UnravelIndex tf.unravel_index indices dims
UnsortedSegmentJoin tf.strings.unsorted_segment_join inputs segment_ids num_segments separator
WriteFile tf.io.write_file filename contents
"""


@functools.cache
def _lines():
    rows = (line.split() for line in _TABLE.split("\n") if line)
    return {op: (path, arguments) for op, path, *arguments in rows}


def _resolved(path):
    found = tf
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def names():
    """The operations that a function here stands for."""
    return [*_WRITTEN, *(op for op, (path, _) in _lines().items() if _resolved(path) is not None)]


def function(name):
    """The function of an operation; None."""
    if name in _WRITTEN:
        return raw_calls.keyword_function(name, _of_tensors(name))
    path, arguments = _lines().get(name, (None, ()))
    public = path and _resolved(path)
    if public is None:
        return None

    def computed(**given):
        positional = [given[item] for item in arguments if "=" not in item]
        keywords = dict(item.split("=") for item in arguments if "=" in item)
        return public(*positional, **{ours: given[theirs] for ours, theirs in keywords.items()})

    return raw_calls.keyword_function(name, computed)


def _of_tensors(name):
    """The function written below, with tensors for the operation's inputs."""
    inputs = {argument.name for argument in op_defs.find(name).inputs}

    def computed(**given):
        made = {key: tf.convert_to_tensor(given[key]) for key in inputs}
        return _WRITTEN[name](**{**given, **made})

    return computed


# --- those that are no public function -----------------------------------------------------------


def _broadcast_gradient_args(s0, s1):
    """The axes that two broadcast operands have to be summed over, to get their shapes back."""
    shapes = (s0, s1)
    rank = tf.maximum(tf.size(shapes[0]), tf.size(shapes[1]))
    first, second = (tf.concat([tf.ones([rank - tf.size(s)], s.dtype), s], 0) for s in shapes)
    axes = []
    for own, other in ((first, second), (second, first)):
        summed = tf.logical_and(tf.equal(own, 1), tf.logical_or(own != other, tf.equal(other, 1)))
        axes.append(tf.cast(tf.reshape(tf.where(summed), [-1]), own.dtype))
    return axes


def _broadcast_args(s0, s1):
    return tf.broadcast_dynamic_shape(s0, s1)


def _igamma_grad_a(a, x):
    return call("igamma_grad_a", (a, x), {})


def _random_gamma_grad(alpha, sample):
    """How a sample moves with alpha while its share of the distribution stays the same."""
    density = tf.exp((alpha - 1) * tf.math.log(sample) - sample - tf.math.lgamma(alpha))
    return -_igamma_grad_a(alpha, sample) / density


def _empty(shape, dtype, init):
    return tf.zeros(shape, dtype)


def _softsign_grad(gradients, features):
    return gradients / tf.square(1 + tf.abs(features))


def _leaky_relu_grad(gradients, features, alpha):
    return tf.where(features > 0, gradients, alpha * gradients)


def _selu_grad(gradients, outputs):
    scale, scale_alpha = 1.0507009873554805, 1.7580993408473768
    return tf.where(outputs < 0, gradients * (outputs + scale_alpha), gradients * scale)


def _bound(side):
    def bound(sorted_inputs, values, out_type):
        return tf.searchsorted(sorted_inputs, values, side, out_type)

    return bound


def _nth_element(input, n, reverse):
    return tf.gather(tf.sort(input, direction="DESCENDING" if reverse else "ASCENDING"), n, axis=-1)


def _reverse(tensor, dims):
    axes = tf.reshape(tf.where(dims), [-1])
    return tf.reverse(tensor, tf.cast(axes, tf.int32))


def _sparse_tensor_dense_mat_mul(a_indices, a_values, a_shape, b, adjoint_a, adjoint_b):
    sparse = tf.SparseTensor(a_indices, a_values, a_shape)
    return tf.sparse.sparse_dense_matmul(sparse, b, adjoint_a, adjoint_b)


def _sparse_reorder(input_indices, input_values, input_shape):
    made = tf.sparse.reorder(tf.SparseTensor(input_indices, input_values, input_shape))
    return [made.indices, made.values]


def _conjugate_transpose(x, perm):
    return tf.transpose(x, perm, conjugate=True)


def _non_max_suppression_v3(boxes, scores, max_output_size, iou_threshold, score_threshold):
    return tf.image.non_max_suppression(
        boxes, scores, max_output_size, iou_threshold, score_threshold
    )


_WRITTEN = {
    **raw_layouts.WRITTEN,
    "BroadcastArgs": _broadcast_args,
    "BroadcastGradientArgs": _broadcast_gradient_args,
    "ConjugateTranspose": _conjugate_transpose,
    "Empty": _empty,
    "IgammaGradA": _igamma_grad_a,
    "LeakyReluGrad": _leaky_relu_grad,
    "LowerBound": _bound("left"),
    "NonMaxSuppressionV3": _non_max_suppression_v3,
    "NthElement": _nth_element,
    "RandomGammaGrad": _random_gamma_grad,
    "Reverse": _reverse,
    "SeluGrad": _selu_grad,
    "SoftsignGrad": _softsign_grad,
    "SparseReorder": _sparse_reorder,
    "SparseTensorDenseMatMul": _sparse_tensor_dense_mat_mul,
    "UpperBound": _bound("right"),
}
