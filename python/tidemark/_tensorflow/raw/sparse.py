"""Operations of ``tf.raw_ops`` on the parts of sparse and ragged tensors."""

from __future__ import annotations

import tidemark as tf


def _parts(sparse):
    return [sparse.indices, sparse.values, sparse.dense_shape]


def _add(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh, **_):
    one = tf.SparseTensor(a_indices, a_values, a_shape)
    return _parts(tf.sparse.add(one, tf.SparseTensor(b_indices, b_values, b_shape), thresh))


def _add_grad(backprop_val_grad, a_indices, b_indices, sum_indices, **_):
    """The gradient of each value: that of the sum at its place, 0 where the sum has none."""
    widths = 1 + tf.reduce_max(tf.concat([a_indices, b_indices, sum_indices], 0), 0)
    flat = tf.math.cumprod(widths, exclusive=True, reverse=True)
    places = tf.reduce_sum(sum_indices * flat, 1)
    out = []
    for indices in (a_indices, b_indices):
        wanted = tf.reduce_sum(indices * flat, 1)
        at = tf.searchsorted(places, wanted)
        at = tf.minimum(at, tf.maximum(tf.size(places) - 1, 0))
        is_there = tf.equal(tf.gather(places, at), wanted)
        found = tf.gather(backprop_val_grad, at)
        out.append(tf.where(is_there, found, tf.zeros_like(found)))
    return out


def _bincount(values, size, weights, binary_output):
    return tf.math.bincount(
        values, _weights(weights), minlength=size, maxlength=size, dtype=weights.dtype,
        axis=-1, binary_output=binary_output,
    )  # fmt: skip


def _weights(weights):
    return weights if weights.shape.num_elements() else None


def _dense_bincount(input, size, weights, binary_output, **_):
    if input.shape.rank == 1:
        return tf.math.bincount(
            input, _weights(weights), minlength=size, maxlength=size, dtype=weights.dtype,
            binary_output=binary_output,
        )  # fmt: skip
    return _bincount(input, size, weights, binary_output)


def _old_bincount(arr, size, weights, **_):
    flat = tf.reshape(arr, [-1])
    held = None if not weights.shape.num_elements() else tf.reshape(weights, [-1])
    return tf.math.bincount(flat, held, minlength=size, maxlength=size, dtype=weights.dtype)


def _ragged_bincount(splits, values, size, weights, binary_output, **_):
    rows = tf.RaggedTensor.from_row_splits(values, splits)
    held = _weights(weights)
    if held is not None:
        held = tf.RaggedTensor.from_row_splits(held, splits)
    return tf.math.bincount(
        rows, held, minlength=size, maxlength=size, dtype=weights.dtype, axis=-1,
        binary_output=binary_output,
    )  # fmt: skip


def _sparse_bincount(indices, values, dense_shape, size, weights, binary_output, **_):
    held = _weights(weights)
    if held is not None:
        held = tf.SparseTensor(indices, held, dense_shape)
    return tf.math.bincount(
        tf.SparseTensor(indices, values, dense_shape), held, minlength=size, maxlength=size,
        dtype=weights.dtype, axis=-1, binary_output=binary_output,
    )  # fmt: skip


def _counted(values, weights, minlength, maxlength, binary_output):
    none = None if minlength < 0 else minlength
    most = None if maxlength < 0 else maxlength
    return _parts(tf.sparse.bincount(values, weights, -1, none, most, binary_output))


def _dense_count(values, weights, minlength, maxlength, binary_output, **_):
    return _counted(values, _weights(weights), minlength, maxlength, binary_output)


def _sparse_count(indices, values, dense_shape, weights, minlength, maxlength, binary_output,
                  **_):  # fmt: skip
    held = _weights(weights)
    if held is not None:
        held = tf.SparseTensor(indices, held, dense_shape)
    made = tf.SparseTensor(indices, values, dense_shape)
    return _counted(made, held, minlength, maxlength, binary_output)


def _ragged_count(splits, values, weights, minlength, maxlength, binary_output, **_):
    held = _weights(weights)
    if held is not None:
        held = tf.RaggedTensor.from_row_splits(held, splits)
    made = tf.RaggedTensor.from_row_splits(values, splits)
    return _counted(made, held, minlength, maxlength, binary_output)


def _concat(indices, values, shapes, concat_dim, **_):
    parts = [tf.SparseTensor(*one) for one in zip(indices, values, shapes, strict=True)]
    return _parts(tf.sparse.concat(concat_dim, parts))


def _split(split_dim, indices, values, shape, num_split, **_):
    axis = int(split_dim)
    made = tf.sparse.split(
        sp_input=tf.SparseTensor(indices, values, shape), num_split=num_split, axis=axis
    )
    return [list(column) for column in zip(*map(_parts, made), strict=True)]


def _dense_cwise(operation):
    def computed(sp_indices, sp_values, sp_shape, dense, **_):
        wide = tf.broadcast_to(dense, tf.cast(sp_shape, tf.int32))
        return operation(sp_values, tf.gather_nd(wide, sp_indices))

    return computed


def _dense_add(a_indices, a_values, a_shape, b, **_):
    return tf.sparse.add(tf.SparseTensor(a_indices, a_values, a_shape), b)


def _fill_empty_rows(indices, values, dense_shape, default_value, **_):
    sparse = tf.SparseTensor(indices, values, dense_shape)
    filled, is_empty = tf.sparse.fill_empty_rows(sparse, default_value)
    # Where each value went: those of a row keep their order, after all rows before.
    order = tf.argsort(indices[:, 0], stable=True)
    added_before = tf.cumsum(tf.cast(is_empty, tf.int64), exclusive=True)
    places = tf.range(tf.size(order, tf.int64)) + tf.gather(
        added_before, tf.gather(indices[:, 0], order)
    )
    reverse = tf.scatter_nd(tf.expand_dims(order, 1), places, [tf.size(order)])
    return [filled.indices, filled.values, is_empty, reverse]


def _reduced(function):
    def computed(input_indices, input_values, input_shape, reduction_axes, keep_dims, **_):
        made = tf.SparseTensor(input_indices, input_values, input_shape)
        axes = [int(axis) for axis in tf.reshape(reduction_axes, [-1]).numpy()]
        return function(made, axes or None, keep_dims)

    return computed


def _reduced_sparse(function):
    def computed(**given):
        made = _reduced(lambda x, axes, keep: function(x, axes, keep, output_is_sparse=True))
        return _parts(made(**given))

    return computed


def _reshape(input_indices, input_shape, new_shape, **_):
    held = tf.zeros([tf.shape(input_indices)[0]])
    made = tf.sparse.reshape(tf.SparseTensor(input_indices, held, input_shape), new_shape)
    return [made.indices, made.dense_shape]


def _slice_grad(backprop_val_grad, input_indices, input_start, output_indices, **_):
    zeros = tf.zeros([tf.shape(input_indices)[0]], backprop_val_grad.dtype)
    moved = output_indices + input_start
    same = tf.reduce_all(tf.equal(input_indices[:, None], moved[None]), -1)
    found = tf.linalg.matvec(tf.cast(same, backprop_val_grad.dtype), backprop_val_grad)
    return zeros + found


def _softmax(sp_indices, sp_values, sp_shape, **_):
    return tf.sparse.softmax(tf.SparseTensor(sp_indices, sp_values, sp_shape)).values


def _larger(function):
    def computed(a_indices, a_values, a_shape, b_indices, b_values, b_shape, **_):
        one = tf.SparseTensor(a_indices, a_values, a_shape)
        made = function(one, tf.SparseTensor(b_indices, b_values, b_shape))
        return [made.indices, made.values]

    return computed


_SETS = {"a-b": (tf.sets.difference, True), "b-a": (tf.sets.difference, False),
         "intersection": (tf.sets.intersection,), "union": (tf.sets.union,)}  # fmt: skip


def _of_sets(one, other, set_operation):
    name = set_operation.decode() if isinstance(set_operation, bytes) else set_operation
    function, *more = _SETS[name]
    return _parts(function(one, other, *more))


def _dense_sets(set1, set2, set_operation, **_):
    return _of_sets(set1, set2, set_operation)


def _mixed_sets(set1, set2_indices, set2_values, set2_shape, set_operation, **_):
    return _of_sets(set1, tf.SparseTensor(set2_indices, set2_values, set2_shape), set_operation)


def _sparse_sets(set1_indices, set1_values, set1_shape, set2_indices, set2_values, set2_shape,
                 set_operation, **_):  # fmt: skip
    one = tf.SparseTensor(set1_indices, set1_values, set1_shape)
    other = tf.SparseTensor(set2_indices, set2_values, set2_shape)
    return _of_sets(one, other, set_operation)


def _set_size(set_indices, set_values, set_shape, **_):
    return tf.sets.size(tf.SparseTensor(set_indices, set_values, set_shape))


def _edit_distance(hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices,
                   truth_values, truth_shape, normalize, **_):  # fmt: skip
    one = tf.SparseTensor(hypothesis_indices, hypothesis_values, hypothesis_shape)
    return tf.edit_distance(
        one, tf.SparseTensor(truth_indices, truth_values, truth_shape), normalize
    )


# --- ragged --------------------------------------------------------------------------------------


def _ragged_range(starts, limits, deltas, Tsplits, **_):
    made = tf.ragged.range(starts, limits, deltas, row_splits_dtype=Tsplits)
    return [made.row_splits, made.values]


def _ragged(splits, values):
    return tf.RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def _ragged_to_sparse(rt_nested_splits, rt_dense_values, **_):
    return _parts(_ragged(rt_nested_splits, rt_dense_values).to_sparse())


def _ragged_gather(params_nested_splits, params_dense_values, indices, **_):
    made = tf.gather(_ragged(params_nested_splits, params_dense_values), indices)
    return [list(made.nested_row_splits), made.flat_values]


def _ngrams(data, data_splits, separator, ngram_widths, left_pad, right_pad, pad_width,
            preserve_short_sequences, **_):  # fmt: skip
    rows = tf.RaggedTensor.from_row_splits(data, data_splits)
    pads = (left_pad, right_pad) if left_pad or right_pad else None
    width = None if pad_width < 0 else pad_width
    made = tf.strings.ngrams(
        rows, tuple(ngram_widths), separator, pads, width, preserve_short_sequences
    )
    return [made.values, tf.cast(made.row_splits, data_splits.dtype)]


def _split_strings(input, sep, maxsplit, **_):
    text = sep.numpy().decode()
    return _parts(tf.strings.split(input, text or None, maxsplit).to_sparse())


def _split_old_strings(input, delimiter, skip_empty, **_):
    return _parts(tf.compat.v1.string_split(input, delimiter, skip_empty))


def _decoded(input, how):
    made = tf.strings.unicode_decode_with_offsets(tf.reshape(input, [-1]), **how)
    return made[0].row_splits, made[0].values, made[1].values


def _unicode_decode(count):
    def computed(input, input_encoding, errors, replacement_char, replace_control_characters,
                 Tsplits, **_):  # fmt: skip
        splits, values, starts = _decoded(
            input, dict(input_encoding=input_encoding, errors=errors,
                        replacement_char=replacement_char,
                        replace_control_characters=replace_control_characters),
        )  # fmt: skip
        return [tf.cast(splits, Tsplits), values, tf.cast(starts, tf.int64)][:count]

    return computed


def _unicode_encode(input_values, input_splits, errors, output_encoding, replacement_char, **_):
    rows = tf.RaggedTensor.from_row_splits(input_values, input_splits)
    return tf.strings.unicode_encode(rows, output_encoding, errors, replacement_char)


WRITTEN = {
    "Bincount": _old_bincount,
    "DenseBincount": _dense_bincount,
    "DenseCountSparseOutput": _dense_count,
    "DenseToDenseSetOperation": _dense_sets,
    "DenseToSparseSetOperation": _mixed_sets,
    "EditDistance": _edit_distance,
    "RaggedBincount": _ragged_bincount,
    "RaggedCountSparseOutput": _ragged_count,
    "RaggedGather": _ragged_gather,
    "RaggedRange": _ragged_range,
    "RaggedTensorToSparse": _ragged_to_sparse,
    "SetSize": _set_size,
    "SparseAdd": _add,
    "SparseAddGrad": _add_grad,
    "SparseBincount": _sparse_bincount,
    "SparseConcat": _concat,
    "SparseCountSparseOutput": _sparse_count,
    "SparseDenseCwiseAdd": _dense_cwise(tf.add),
    "SparseDenseCwiseDiv": _dense_cwise(tf.divide),
    "SparseDenseCwiseMul": _dense_cwise(tf.multiply),
    "SparseFillEmptyRows": _fill_empty_rows,
    "SparseReduceMax": _reduced(tf.sparse.reduce_max),
    "SparseReduceMaxSparse": _reduced_sparse(tf.sparse.reduce_max),
    "SparseReduceSum": _reduced(tf.sparse.reduce_sum),
    "SparseReduceSumSparse": _reduced_sparse(tf.sparse.reduce_sum),
    "SparseReshape": _reshape,
    "SparseSliceGrad": _slice_grad,
    "SparseSoftmax": _softmax,
    "SparseSparseMaximum": _larger(tf.sparse.maximum),
    "SparseSparseMinimum": _larger(tf.sparse.minimum),
    "SparseSplit": _split,
    "SparseTensorDenseAdd": _dense_add,
    "SparseToSparseSetOperation": _sparse_sets,
    "StringNGrams": _ngrams,
    "StringSplit": _split_old_strings,
    "StringSplitV2": _split_strings,
    "UnicodeDecode": _unicode_decode(2),
    "UnicodeDecodeWithOffsets": _unicode_decode(3),
    "UnicodeEncode": _unicode_encode,
}
