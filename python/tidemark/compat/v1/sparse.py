"""``tf.compat.v1.sparse``: TensorFlow 2's names, with TensorFlow 1's where they differ."""

from __future__ import annotations

import tidemark as _tf
from tidemark import sparse as _sparse
from tidemark.compat.v1._functions import sparse_concat as concat
from tidemark.compat.v1._functions import sparse_placeholder as placeholder
from tidemark.sparse._layout import as_sparse as _as_sparse

__all__ = ["concat", "matmul", "merge", "placeholder", "reduce_max_sparse", "reduce_sum_sparse"]


def merge(sp_ids, sp_values, vocab_size, name=None, already_sorted=False):
    """Values whose last coordinates are the values of ``sp_ids``, one for each of its tensors."""
    if not isinstance(sp_ids, (list, tuple)) or hasattr(sp_ids, "dense_shape"):
        if isinstance(vocab_size, (list, tuple)):
            raise TypeError(
                f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}"
            )
        sp_ids, vocab_size = [sp_ids], [vocab_size]
    elif not isinstance(vocab_size, (list, tuple)):
        raise TypeError("vocab_size has to be a list of Tensors or Python ints. Found "
                        f"{type(vocab_size)}")  # fmt: skip
    if len(sp_ids) != len(vocab_size):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    ids, values = [_as_sparse(one) for one in sp_ids], _as_sparse(sp_values)
    columns = [_tf.cast(one.values, _tf.int64)[:, _tf.newaxis] for one in ids]
    sizes = _tf.stack([_tf.cast(size, _tf.int64) for size in vocab_size])
    joined = _tf.SparseTensor(
        _tf.concat([ids[0].indices[:, :-1], *columns], 1), values.values,
        _tf.concat([ids[0].dense_shape[:-1], sizes], 0),
    )  # fmt: skip
    return joined if already_sorted else _sparse.reorder(joined)


def _reduced(function):
    def reduced(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
        axis = reduction_axes if axis is None else axis
        keeps = keep_dims if keepdims is None else keepdims
        return getattr(_sparse, function)(sp_input, axis, bool(keeps), output_is_sparse=True)

    reduced.__name__ = reduced.__qualname__ = function + "_sparse"
    reduced.__doc__ = f"``tf.sparse.{function}`` that gives a sparse tensor."
    return reduced


reduce_max_sparse = _reduced("reduce_max")
reduce_sum_sparse = _reduced("reduce_sum")


def matmul(a, b, transpose_a=False, transpose_b=False, a_is_sparse=False, b_is_sparse=False,
           name=None):  # fmt: skip
    """The product of dense matrices that have many zeros."""
    return _tf.matmul(a, b, transpose_a, transpose_b)


def __getattr__(name):
    return getattr(_sparse, name)
