"""Operations of ``tf.raw_ops`` about the order of dimensions, and about parts of sparse tensors."""

from __future__ import annotations

import tidemark as tf
from tidemark.errors import InvalidArgumentError


def _refuse(text):
    raise InvalidArgumentError(None, None, text)


def _checked_formats(src_format, dst_format, longest):
    """Both formats as text: as long as each other, of at most so many dimensions."""
    source, target = (f.decode() if isinstance(f, bytes) else f for f in (src_format, dst_format))
    for what, text in (("Source", source), ("Destination", target)):
        if not 4 <= len(text) <= longest:
            lengths = "4 or 5" if longest == 5 else "4"
            _refuse(f"{what} format must be of length {lengths}, received {what.lower()}_format = "
                    f"{text}")  # fmt: skip
    return source, target


def data_format_dim_map(x, src_format, dst_format):
    """Where the dimensions that x names in one format stand in another."""
    source, target = _checked_formats(src_format, dst_format, 5)
    if sorted(source) != sorted(target) or len(set(source)) != len(source):
        _refuse(f"Destination and source format must determine a permutation, got {source} and "
                f"{target}")  # fmt: skip
    places = [target.index(letter) for letter in source]
    return tf.gather(tf.constant(places, x.dtype), tf.math.floormod(x, len(places)))


def data_format_vec_permute(x, src_format, dst_format):
    """One number, or one pair, a dimension, in the order of another format."""
    rank = x.shape.rank
    if rank not in (None, 1, 2):
        _refuse(f"input must be a vector or 2D tensor, but got shape {x.shape}")
    source, target = (f.decode() if isinstance(f, bytes) else f for f in (src_format, dst_format))
    _checked_formats(source, target, 5)
    count = x.shape[0] if rank else None
    if rank == 2 and x.shape[1] not in (None, 2):
        _refuse(f"Second dimension of 2D input must be of size 2, but got shape {x.shape}")
    if count == len(source) - 2:  # of the dimensions of the picture alone
        if rank == 2 and not all(letter in source and letter in target for letter in "HW"):
            _refuse("Format specifier must contain H and W for 2D case")
        source, target = ("".join(c for c in text if c in "DHW") for text in (source, target))
    if count is not None and count != len(source):
        what = "1D input" if rank == 1 else "First dimension of 2D input"
        _refuse(f"{what} must be of size {len(source) - 2} or {len(source)}, but got shape "
                f"{x.shape}")  # fmt: skip
    if sorted(source) != sorted(target) or len(set(source)) != len(source):
        _refuse(f"Destination and source format must determine a permutation, got {source} and "
                f"{target}")  # fmt: skip
    return tf.gather(x, [source.index(letter) for letter in target])


def approximate_equal(x, y, tolerance):
    """Whether x and y differ by less than the tolerance."""
    if x.shape.is_fully_defined() and y.shape.is_fully_defined() and x.shape != y.shape:
        _refuse(f"x and y must be of the same shape. x shape: {x.shape}. y shape: {y.shape}")
    return tf.abs(x - y) < tf.cast(tolerance, x.dtype.real_dtype)


def sparse_fill_empty_rows_grad(reverse_index_map, grad_values):
    """The gradients of the values that were there, and of the one that filled the empty rows."""
    for what, tensor in (("reverse_index_map", reverse_index_map), ("grad_values", grad_values)):
        if tensor.shape.rank not in (None, 1) and tf.executing_eagerly():
            _refuse(f"{what} must be a vector, saw: {tensor.shape}")
        if tensor.shape.rank not in (None, 1):
            raise ValueError(f"Shape must be rank 1 but is rank {tensor.shape.rank} for {what}")
    count = tf.size(grad_values)
    known = tf.get_static_value(reverse_index_map), tf.get_static_value(count)
    if known[0] is not None and known[1] is not None:
        _check_reverse_index(known[0], int(known[1]))
    taken = tf.gather(grad_values, reverse_index_map)
    ones = tf.ones_like(reverse_index_map, tf.int32)
    is_taken = tf.math.unsorted_segment_sum(ones, reverse_index_map, count) > 0
    filled = tf.where(is_taken, tf.zeros_like(grad_values), grad_values)
    return [taken, tf.reduce_sum(filled)]


def _check_reverse_index(places, count):
    for place in places.tolist():
        if not 0 <= place < count:
            _refuse(f"Elements in reverse index must be in [0, {count}) but got {place}")


def sparse_slice(indices, values, shape, start, size):
    """The part of a sparse tensor that begins at ``start``."""
    made = tf.sparse.slice(tf.SparseTensor(indices, values, shape), start, size)
    return [made.indices, made.values, made.dense_shape]


WRITTEN = {
    "ApproximateEqual": approximate_equal,
    "DataFormatDimMap": data_format_dim_map,
    "DataFormatVecPermute": data_format_vec_permute,
    "SparseFillEmptyRowsGrad": sparse_fill_empty_rows_grad,
    "SparseSlice": sparse_slice,
}
