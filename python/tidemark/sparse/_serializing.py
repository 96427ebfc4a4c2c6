"""Sparse tensors as strings: three serialized tensors each."""

from __future__ import annotations

import tidemark as tf
from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import convert_to_tensor
from tidemark.dtypes import as_dtype
from tidemark.errors import InvalidArgumentError
from tidemark.sparse._layout import as_sparse
from tidemark.sparse._tensor import SparseTensor


def _check_strings(out_type):
    if as_dtype(out_type) != dtypes.string:
        raise InvalidArgumentError(None, None, "sparse tensors are serialized to tf.string alone: "
                                   "there are no tensors of dtype variant")  # fmt: skip


@export("tf.io.serialize_sparse")
def serialize_sparse(sp_input, out_type=dtypes.string, name=None):
    """Indices, values and shape, each as a string."""
    _check_strings(out_type)
    sparse = as_sparse(sp_input)
    parts = (sparse.indices, sparse.values, sparse.dense_shape)
    return tf.stack([tf.io.serialize_tensor(part) for part in parts])


@export("tf.io.serialize_many_sparse")
@sized_when_run
def serialize_many_sparse(sp_input, out_type=dtypes.string, name=None):
    """A row of three strings for each row of the first dimension."""
    _check_strings(out_type)
    sparse = as_sparse(sp_input)
    rank = sparse.dense_shape.shape[0]
    if rank < 2:
        raise InvalidArgumentError(
            None, None, f"Rank of input SparseTensor should be > 1, but saw rank: {rank}"
        )
    rows = []
    for row in range(int(sparse.dense_shape[0])):
        inside = tf.where(sparse.indices[:, 0] == row)[:, 0]
        one = SparseTensor(tf.gather(sparse.indices, inside)[:, 1:],
                           tf.gather(sparse.values, inside), sparse.dense_shape[1:])  # fmt: skip
        rows.append(serialize_sparse(one))
    return tf.stack(rows) if rows else tf.zeros([0, 3], dtypes.string)


@export("tf.io.deserialize_many_sparse")
@sized_when_run
def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    """The tensors of all rows, each one row of a sparse tensor as large as the largest of them."""
    table = convert_to_tensor(serialized_sparse, dtype=dtypes.string)
    if table.shape.rank != 2 or table.shape[1] != 3:
        raise InvalidArgumentError(
            None, None, f"Serialized sparse should have shape [N, 3], but has {table.shape}"
        )
    indices, values, shapes = [], [], []
    for row, (places, found, sizes) in enumerate(table.numpy().tolist()):
        places = tf.io.parse_tensor(places, dtypes.int64)
        indices.append(tf.pad(places, [[0, 0], [1, 0]], constant_values=row))
        values.append(tf.io.parse_tensor(found, dtype))
        shapes.append(tf.io.parse_tensor(sizes, dtypes.int64))
        if rank is not None and shapes[-1].shape[0] != rank:
            raise InvalidArgumentError(None, None, f"row {row} is of rank {shapes[-1].shape[0]}; "
                                       f"rank={rank} was said")  # fmt: skip
    if not indices:
        raise InvalidArgumentError(
            None, None, "Must have at least 1 serialized SparseTensor, has 0"
        )
    largest = tf.reduce_max(tf.stack(shapes), 0)
    dense_shape = tf.concat([[len(indices)], largest], 0)
    return SparseTensor(tf.concat(indices, 0), tf.concat(values, 0), dense_shape)
