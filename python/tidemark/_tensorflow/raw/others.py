"""Operations of ``tf.raw_ops`` that are a few public functions each."""

from __future__ import annotations

import math

import tidemark as tf


def _batch_to_space(input, crops, block_size, **_):
    return tf.batch_to_space(input, [block_size, block_size], crops)


def _space_to_batch(input, paddings, block_size, **_):
    return tf.space_to_batch_nd(input, [block_size, block_size], paddings)


def _concat_offset(concat_dim, shape, **_):
    """Where each part begins in what they are joined to."""
    rank = tf.size(shape[0])
    along = tf.one_hot(tf.math.floormod(concat_dim, rank), rank, dtype=shape[0].dtype)
    starts = [tf.zeros_like(shape[0])]
    for one in shape[:-1]:
        starts.append(starts[-1] + one * along)
    return starts


def _const(value, dtype, **_):
    return tf.make_ndarray(value) if hasattr(value, "tensor_shape") else tf.constant(value, dtype)


def _decode_csv(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols, **_):
    chosen = list(select_cols) or None
    return tf.io.decode_csv(
        records, record_defaults, field_delim, use_quote_delim, na_value, chosen
    )


def _eig(input, compute_v, Tout, **_):
    if compute_v:
        values, vectors = tf.linalg.eig(input)
        return [tf.cast(values, Tout), tf.cast(vectors, Tout)]
    return [tf.cast(tf.linalg.eigvals(input), Tout), tf.zeros([0], Tout)]


def _svd(input, compute_uv, full_matrices, **_):
    if compute_uv:
        return list(tf.linalg.svd(input, full_matrices, True))
    nothing = tf.zeros([0], input.dtype)
    return [tf.linalg.svd(input, full_matrices, False), nothing, nothing]


def _glimpse(input, size, offsets, centered, normalized, noise, **_):
    return tf.image.extract_glimpse(input, size, offsets, centered, normalized, noise)


def _projective(images, transforms, output_shape, interpolation, fill_mode, **_):
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=images, transforms=transforms, output_shape=output_shape, fill_value=0.0,
        interpolation=interpolation, fill_mode=fill_mode,
    )  # fmt: skip


def _matrix_diag(diagonal, k, num_rows, num_cols, padding_value, **_):
    return tf.linalg.diag(
        diagonal, k=k, num_rows=int(num_rows), num_cols=int(num_cols),
        padding_value=padding_value, align="LEFT_LEFT",
    )  # fmt: skip


def _max_pool(input, ksize, strides, padding, data_format, **_):
    sizes, steps = ksize.numpy().tolist(), strides.numpy().tolist()
    return tf.nn.max_pool2d(input, sizes, steps, padding, data_format)


def _multinomial(logits, num_samples, seed, output_dtype, **_):
    return tf.random.categorical(logits, num_samples, output_dtype, seed or None)


def _poisson(shape, rate, dtype, seed, **_):
    drawn = tf.random.poisson(shape, rate, tf.float64, seed or None)
    return tf.cast(drawn, dtype)


def _non_deterministic_ints(shape, dtype, **_):
    made = tf.random.Generator.from_non_deterministic_state()
    return tf.cast(made.uniform_full_int(shape, tf.uint64), dtype)


def _suppressed(boxes, scores, max_output_size, iou_threshold, score_threshold,
                pad_to_max_output_size, **_):  # fmt: skip
    return list(
        tf.image.non_max_suppression_padded(
            boxes,
            scores,
            max_output_size,
            iou_threshold,
            score_threshold,
            pad_to_max_output_size,
        )  # fmt: skip
    )


def _softly_suppressed(boxes, scores, max_output_size, iou_threshold, score_threshold,
                       soft_nms_sigma, pad_to_max_output_size, **_):  # fmt: skip
    chosen, found = tf.image.non_max_suppression_with_scores(
        boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma
    )
    count = tf.size(chosen)
    if pad_to_max_output_size:
        border = [[0, max_output_size - count]]
        chosen, found = tf.pad(chosen, border), tf.pad(found, border)
    return [chosen, found, count]


def _population_count(x, **_):
    """How many bits of each number are 1."""
    unsigned = {1: tf.uint8, 2: tf.uint16, 4: tf.uint32, 8: tf.uint64}[x.dtype.size]
    bits, found = tf.bitcast(x, unsigned), 0
    for place in range(8 * x.dtype.size):
        moved = tf.bitwise.right_shift(bits, tf.constant(place, unsigned))
        found += tf.cast(tf.bitwise.bitwise_and(moved, tf.constant(1, unsigned)), tf.uint8)
    return found


def _print(input, output_stream, end, **_):
    tf.print(input, output_stream=output_stream, end=end)


def _sharded_filename(basename, shard, num_shards, **_):
    digits = [tf.strings.as_string(number, width=5, fill="0") for number in (shard, num_shards)]
    return tf.strings.join([basename, "-", digits[0], "-of-", digits[1]])


def _sharded_filespec(basename, num_shards, **_):
    last = tf.strings.as_string(num_shards, width=5, fill="0")
    return tf.strings.join([basename, "-?????-of-", last])


def _sparse_matmul(a, b, transpose_a, transpose_b, **_):
    wide = (tf.cast(a, tf.float32), tf.cast(b, tf.float32))
    return tf.matmul(*wide, transpose_a=transpose_a, transpose_b=transpose_b)


def _tridiagonal_matmul(superdiag, maindiag, subdiag, rhs, **_):
    diagonals = [x[..., 0, :] for x in (superdiag, maindiag, subdiag)]
    return tf.linalg.tridiagonal_matmul(diagonals, rhs, "sequence")


def _spectrogram(input, window_size, stride, magnitude_squared):
    """The strengths of frequencies in windows of each channel."""
    frames = tf.signal.frame(tf.transpose(input), window_size, stride)
    turns = tf.range(window_size, dtype=tf.float32) * (2 * math.pi / window_size)
    frames *= 0.5 - 0.5 * tf.cos(turns)  # tf.signal.hann_window ends odd ones at 0
    length = 1 << (window_size - 1).bit_length()
    found = tf.abs(tf.signal.rfft(frames, [length]))
    return tf.square(found) if magnitude_squared else found


def _ctc_beam(inputs, sequence_length, beam_width, top_paths, merge_repeated, **_):
    paths, likelihood = tf.compat.v1.nn.ctc_beam_search_decoder(
        inputs, sequence_length, beam_width, top_paths, merge_repeated
    )
    parts = [[path.indices, path.values, path.dense_shape] for path in paths]
    return [*map(list, zip(*parts, strict=True)), likelihood]


def _padded(input, paddings, mode):
    """TensorFlow's fused operations pad by reflection alone."""
    return tf.pad(input, paddings, mode)


def _pad_and_convolve(input, paddings, filter, mode, strides, padding):
    return tf.nn.conv2d(_padded(input, paddings, mode), filter, strides, padding)


def _resize_pad_and_convolve(input, size, paddings, filter, mode, strides, padding,
                             resize_align_corners):  # fmt: skip
    resized = tf.raw_ops.ResizeBilinear(images=input, size=size, align_corners=resize_align_corners)
    return _pad_and_convolve(resized, paddings, filter, mode, strides, padding)


def _ragged_to_tensor(shape, values, default_value, row_partition_tensors, row_partition_types):
    """A dense tensor of ragged rows, whose partitions come from the outermost to the innermost."""
    kinds = [kind.decode() if isinstance(kind, bytes) else kind for kind in row_partition_types]
    partitions = list(zip(kinds, row_partition_tensors, strict=True))
    count = None
    if kinds[0] == "FIRST_DIM_SIZE":
        count = partitions.pop(0)[1]
    made = values
    for at, (kind, rows) in reversed(list(enumerate(partitions))):
        if kind == "ROW_SPLITS":
            made = tf.RaggedTensor.from_row_splits(made, rows)
        elif kind == "VALUE_ROWIDS":
            outer = count if at == 0 else _rows_inside(partitions[at - 1])
            made = tf.RaggedTensor.from_value_rowids(made, rows, outer)
        else:
            raise tf.errors.InvalidArgumentError(
                None, None, f"a partition is ROW_SPLITS or VALUE_ROWIDS; given {kind}"
            )
    sizes = tf.convert_to_tensor(shape).numpy()
    wanted = [None if size < 0 else int(size) for size in sizes] if sizes.ndim else None
    return made.to_tensor(default_value, shape=wanted)


def _rows_inside(partition):
    kind, rows = partition
    return rows[-1] if kind == "ROW_SPLITS" else tf.size(rows, rows.dtype)


def _jpeg(images, quality):
    return tf.io.encode_jpeg(images, quality=int(quality))


WRITTEN = {
    "EncodeJpegVariableQuality": _jpeg,
    "FusedPadConv2D": _pad_and_convolve,
    "FusedResizeAndPadConv2D": _resize_pad_and_convolve,
    "RaggedTensorToTensor": _ragged_to_tensor,
    "AudioSpectrogram": _spectrogram,
    "BatchToSpace": _batch_to_space,
    "CTCBeamSearchDecoder": _ctc_beam,
    "ConcatOffset": _concat_offset,
    "Const": _const,
    "DecodeCSV": _decode_csv,
    "Eig": _eig,
    "ExtractGlimpse": _glimpse,
    "ExtractGlimpseV2": _glimpse,
    "ImageProjectiveTransformV2": _projective,
    "MatrixDiagV2": _matrix_diag,
    "MaxPoolV2": _max_pool,
    "Multinomial": _multinomial,
    "NoOp": lambda: None,
    "NonDeterministicInts": _non_deterministic_ints,
    "NonMaxSuppressionV4": _suppressed,
    "NonMaxSuppressionV5": _softly_suppressed,
    "PopulationCount": _population_count,
    "PrintV2": _print,
    "RandomPoisson": _poisson,
    "RandomPoissonV2": _poisson,
    "ShardedFilename": _sharded_filename,
    "ShardedFilespec": _sharded_filespec,
    "SpaceToBatch": _space_to_batch,
    "SparseMatMul": _sparse_matmul,
    "Svd": _svd,
    "TridiagonalMatMul": _tridiagonal_matmul,
}
