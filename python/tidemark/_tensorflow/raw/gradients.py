"""Operations of ``tf.raw_ops`` that are gradients of others: what a tape gives for these."""

from __future__ import annotations

import tidemark as tf
from tidemark._tidemark import call


def _gradients(function, sources, gradient):
    """The gradients of the sources, given that of what the function makes of them."""
    with tf.GradientTape() as tape:
        for source in sources:
            tape.watch(source)
        result = function(*sources)
    zero = tf.UnconnectedGradients.ZERO
    return tape.gradient(result, list(sources), gradient, unconnected_gradients=zero)


def _gradient(function, source, gradient):
    return _gradients(function, (source,), gradient)[0]


# --- convolutions and pools -----------------------------------------------------------------------


def _padding(padding, explicit_paddings=()):
    if padding != "EXPLICIT":
        return padding
    numbers = list(explicit_paddings)
    return [numbers[i : i + 2] for i in range(0, len(numbers), 2)]


def _of_convolution(convolution, by_filter):
    """The gradient of a convolution by its filter, or by what it goes over; of the two the one that
    is asked for is given as its sizes, or as a tensor of them."""

    def gradient(out_backprop, strides, padding, dilations, explicit_paddings=(),
                 data_format=None, **given):  # fmt: skip
        asked, other = ("filter", "input") if by_filter else ("input", "filter")
        sizes = given.get(f"{asked}_sizes")
        start = tf.zeros(tf.shape(given[asked]) if sizes is None else sizes, given[other].dtype)
        how = {"strides": strides, "padding": _padding(padding, explicit_paddings)}
        if data_format is not None:
            how["data_format"] = data_format

        def computed(value):
            pair = (given[other], value) if by_filter else (value, given[other])
            return convolution(*pair, dilations=dilations, **how)

        return _gradient(computed, start, out_backprop)

    return gradient


def _conv2d(x, f, strides, padding, data_format="NHWC", dilations=None):
    return tf.nn.conv2d(x, f, strides, padding, data_format, dilations)


def _conv3d(x, f, strides, padding, data_format="NDHWC", dilations=None):
    return tf.nn.conv3d(x, f, strides, padding, data_format, dilations)


def _depthwise(x, f, strides, padding, data_format="NHWC", dilations=None):
    spatial = dilations[1:3] if data_format == "NHWC" else dilations[2:4]
    return tf.nn.depthwise_conv2d(x, f, strides, padding, data_format, spatial)


def _avg_pool_grad(pool):
    def gradient(orig_input_shape, grad, ksize, strides, padding, data_format, **_):
        start = tf.zeros(orig_input_shape, grad.dtype)
        return _gradient(lambda x: pool(x, ksize, strides, padding, data_format), start, grad)

    return gradient


def _max_pool_grad(pool):
    def gradient(orig_input, orig_output, grad, ksize, strides, padding, data_format,
                 explicit_paddings=(), **_):  # fmt: skip
        ksize, strides = (_numbers(value) for value in (ksize, strides))
        border = _padding(padding, explicit_paddings)
        return _gradient(lambda x: pool(x, ksize, strides, border, data_format), orig_input, grad)

    return gradient


def _numbers(value):
    return value.numpy().tolist() if hasattr(value, "numpy") else value


def _dilation2d(x, f, strides, rates, padding):
    return tf.nn.dilation2d(x, f, strides, padding, "NHWC", rates)


def _dilation2d_to_filter(input, filter, out_backprop, strides, rates, padding, **_):
    return _gradient(lambda f: _dilation2d(input, f, strides, rates, padding), filter, out_backprop)


def _dilation2d_to_input(input, filter, out_backprop, strides, rates, padding, **_):
    return _gradient(lambda x: _dilation2d(x, filter, strides, rates, padding), input, out_backprop)


# --- images --------------------------------------------------------------------------------------


def _resize_grad(function):
    def gradient(grads, original_image, align_corners, half_pixel_centers, **_):
        size = tf.shape(grads)[1:3]
        image = tf.cast(original_image, grads.dtype)
        made = _gradient(
            lambda x: function(x, size, align_corners, half_pixel_centers=half_pixel_centers),
            image, grads,
        )  # fmt: skip
        return tf.cast(made, original_image.dtype)

    return gradient


def _resize_nearest_grad(grads, size, align_corners, half_pixel_centers, **_):
    shape = tf.concat([tf.shape(grads)[:1], size, tf.shape(grads)[3:]], 0)
    out = tf.shape(grads)[1:3]
    resize = tf.compat.v1.image.resize_nearest_neighbor
    return _gradient(
        lambda x: resize(x, out, align_corners, half_pixel_centers=half_pixel_centers),
        tf.zeros(shape, grads.dtype), grads,
    )  # fmt: skip


def _crop_and_resize_to_image(grads, boxes, box_ind, image_size, T, method):
    size = tf.shape(grads)[1:3]
    made = _gradient(
        lambda x: tf.image.crop_and_resize(x, boxes, box_ind, size, method),
        tf.zeros(image_size, tf.float32), grads,
    )  # fmt: skip
    return tf.cast(made, T)


def _crop_and_resize_to_boxes(grads, image, boxes, box_ind, method, **_):
    size = tf.shape(grads)[1:3]
    return _gradient(
        lambda b: tf.image.crop_and_resize(image, b, box_ind, size, method), boxes, grads
    )


# --- the rest ------------------------------------------------------------------------------------


def _reciprocal_grad(y, dy, **_):
    return -dy * y * y


def _elu_grad(gradients, outputs, **_):
    return tf.where(outputs < 0, gradients * (outputs + 1), gradients)


def _softplus_grad(gradients, features, **_):
    return gradients * tf.sigmoid(features)


def _lrn_grad(input_grads, input_image, output_image, depth_radius, bias, alpha, beta, **_):
    normalise = tf.nn.local_response_normalization
    return _gradient(
        lambda x: normalise(x, depth_radius, bias, alpha, beta), input_image, input_grads
    )


def _cholesky_grad(l, grad, **_):  # noqa: E741 - TensorFlow's name
    product = tf.matmul(l, l, adjoint_b=True)
    return _gradient(tf.linalg.cholesky, product, grad)


def _mirror_pad_grad(input, paddings, mode, **_):
    sizes = tf.cast(paddings, tf.int64)
    shape = tf.shape(input, tf.int64) - tf.reduce_sum(sizes, 1)
    wide = 1 if mode == "REFLECT" else 0
    fits = tf.reduce_all((sizes >= 0) & (sizes + wide <= shape[:, None]))
    with tf.control_dependencies([tf.debugging.Assert(fits, ["paddings do not fit", paddings])]):
        input = tf.identity(input)
    return call("mirror_pad_grad", (input, paddings), {"mode": mode})


def _tile_grad(input, multiples, **_):
    start = tf.zeros(tf.shape(input, multiples.dtype) // multiples, input.dtype)
    return _gradient(lambda x: tf.tile(x, multiples), start, input)


def _fused_batch_norm_grad(count):
    def gradient(y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format,
                 is_training, **_):  # fmt: skip
        axes = [0, 1, 2] if data_format == "NHWC" else [0, 2, 3]

        def normalised(x, scale, offset):
            wide = tf.cast(x, scale.dtype)
            mean, variance = (
                tf.nn.moments(wide, axes, keepdims=True)
                if is_training
                else (_along(reserve_space_1, data_format), _along(reserve_space_2, data_format))
            )
            made = (wide - mean) * tf.math.rsqrt(variance + epsilon) * _along(scale, data_format)
            return tf.cast(made + _along(offset, data_format), x.dtype)

        made = _gradients(normalised, (x, scale, tf.zeros_like(scale)), y_backprop)
        return [*made, *(tf.zeros([0], scale.dtype) for _ in range(count))]

    return gradient


def _along(vector, data_format):
    """A number for each channel, against a picture."""
    return vector if data_format == "NHWC" else vector[:, None, None]


def _sparse_segment_grad(function):
    def gradient(grad, indices, segment_ids, output_dim0, **_):
        shape = tf.concat([tf.reshape(output_dim0, [1]), tf.shape(grad)[1:]], 0)
        start = tf.zeros(shape, grad.dtype)
        count = tf.shape(grad)[0]
        found = _gradient(
            lambda x: function(x, indices, segment_ids, num_segments=count), start, grad
        )
        return tf.convert_to_tensor(found)  # of rows that were gathered

    return gradient


def _max_pool_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, data_format):
    """What the maxima would be, had the elements they came from these values."""
    if data_format != "NHWC":
        raise tf.errors.UnimplementedError(None, None, "data_format has to be NHWC")
    sizes, steps = (list(tf.get_static_value(one)) for one in (ksize, strides))
    _, places = tf.nn.max_pool_with_argmax(
        orig_input, sizes, steps, padding, include_batch_in_index=True
    )
    return tf.gather(tf.reshape(grad, [-1]), places)


def _max_pool_grad_with_argmax(input, grad, argmax, include_batch_in_index, **_):
    """Each gradient goes to the element that was the maximum."""
    if not include_batch_in_index:
        one = tf.size(input, tf.int64) // tf.cast(tf.shape(input)[0], tf.int64)
        rows = tf.range(tf.shape(argmax)[0], dtype=tf.int64) * one
        argmax = tf.cast(argmax, tf.int64) + tf.reshape(rows, [-1, 1, 1, 1])
    places = tf.reshape(argmax, [-1, 1])
    flat = tf.scatter_nd(places, tf.reshape(grad, [-1]), [tf.size(input, places.dtype)])
    return tf.reshape(flat, tf.shape(input))


def _ctc_loss(inputs, labels_indices, labels_values, sequence_length, preprocess_collapse_repeated,
              ctc_merge_repeated, ignore_longer_outputs_than_inputs):  # fmt: skip
    """The losses, and their gradient; the last class is the blank."""
    if preprocess_collapse_repeated or not ctc_merge_repeated:
        raise tf.errors.UnimplementedError(
            None, None, "repeated labels are merged where paths are, and not in the labels"
        )
    shape = tf.stack([tf.shape(inputs, tf.int64)[1], tf.reduce_max(labels_indices[:, 1]) + 1])
    labels = tf.SparseTensor(labels_indices, labels_values, shape)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = tf.nn.ctc_loss(labels, inputs, None, sequence_length, blank_index=-1)
    gradient = tape.gradient(loss, inputs)
    if ignore_longer_outputs_than_inputs:
        loss = tf.where(tf.math.is_inf(loss), tf.zeros_like(loss), loss)
    return [loss, gradient]


WRITTEN = {
    "CTCLoss": _ctc_loss,
    "MaxPoolGradGrad": _max_pool_grad_grad,
    "MaxPoolGradGradV2": _max_pool_grad_grad,
    "MaxPoolGradWithArgmax": _max_pool_grad_with_argmax,
    "AvgPool3DGrad": _avg_pool_grad(tf.nn.avg_pool3d),
    "AvgPoolGrad": _avg_pool_grad(tf.nn.avg_pool2d),
    "CholeskyGrad": _cholesky_grad,
    "Conv2DBackpropFilter": _of_convolution(_conv2d, True),
    "Conv3DBackpropFilter": _of_convolution(_conv3d, True),
    "Conv3DBackpropFilterV2": _of_convolution(_conv3d, True),
    "Conv3DBackpropInput": _of_convolution(_conv3d, False),
    "Conv3DBackpropInputV2": _of_convolution(_conv3d, False),
    "CropAndResizeGradBoxes": _crop_and_resize_to_boxes,
    "CropAndResizeGradImage": _crop_and_resize_to_image,
    "DepthwiseConv2dNativeBackpropFilter": _of_convolution(_depthwise, True),
    "DepthwiseConv2dNativeBackpropInput": _of_convolution(_depthwise, False),
    "Dilation2D": lambda input, filter, strides, rates, padding, **_: _dilation2d(
        input, filter, strides, rates, padding
    ),
    "Dilation2DBackpropFilter": _dilation2d_to_filter,
    "Dilation2DBackpropInput": _dilation2d_to_input,
    "EluGrad": _elu_grad,
    "FusedBatchNormGrad": _fused_batch_norm_grad(2),
    "FusedBatchNormGradV2": _fused_batch_norm_grad(2),
    "FusedBatchNormGradV3": _fused_batch_norm_grad(2),
    "InvGrad": _reciprocal_grad,
    "LRNGrad": _lrn_grad,
    "MaxPool3DGrad": _max_pool_grad(tf.nn.max_pool3d),
    "MaxPoolGrad": _max_pool_grad(tf.nn.max_pool2d),
    "MaxPoolGradV2": _max_pool_grad(tf.nn.max_pool2d),
    "MirrorPadGrad": _mirror_pad_grad,
    "ReciprocalGrad": _reciprocal_grad,
    "ResizeBicubicGrad": _resize_grad(tf.compat.v1.image.resize_bicubic),
    "ResizeBilinearGrad": _resize_grad(tf.compat.v1.image.resize_bilinear),
    "ResizeNearestNeighborGrad": _resize_nearest_grad,
    "SoftplusGrad": _softplus_grad,
    "SparseSegmentMeanGrad": _sparse_segment_grad(tf.sparse.segment_mean),
    "SparseSegmentSqrtNGrad": _sparse_segment_grad(tf.sparse.segment_sqrt_n),
    "SparseSegmentSumGrad": _sparse_segment_grad(tf.sparse.segment_sum),
    "TileGrad": _tile_grad,
}
