"""Operations that parse Example messages, and those that keep sparse tensors as texts."""

from __future__ import annotations

import tidemark as tf


def _names(keys):
    if isinstance(keys, (list, tuple)):
        return [key.numpy().decode() if hasattr(key, "numpy") else _plain(key) for key in keys]
    return [key.decode() for key in keys.numpy().reshape(-1)]


def _plain(text):
    return text.decode() if isinstance(text, bytes) else text


def _features(sparse_keys, sparse_types, dense_keys, dense_defaults, dense_shapes):
    """The features as tf.io names them: an empty default is none."""
    made = {
        key: tf.io.VarLenFeature(dtype)
        for key, dtype in zip(sparse_keys, sparse_types, strict=True)
    }
    for key, default, shape in zip(dense_keys, dense_defaults, dense_shapes, strict=True):
        shape = tf.TensorShape(shape)
        if shape.is_fully_defined():
            given = default if int(tf.size(default)) else None
            made[key] = tf.io.FixedLenFeature(shape, default.dtype, given)
        else:
            filling = default if int(tf.size(default)) else None
            made[key] = tf.io.FixedLenSequenceFeature(
                shape[1:], default.dtype, allow_missing=True, default_value=filling
            )
    return made


def _examples(serialized, sparse_keys, dense_keys, dense_defaults, sparse_types, dense_shapes, **_):
    sparse, dense = _names(sparse_keys), _names(dense_keys)
    features = _features(sparse, sparse_types, dense, dense_defaults, dense_shapes)
    found = tf.io.parse_example(serialized, features)
    return _parts(found, sparse, dense)


def _parts(found, sparse, dense):
    return [
        [found[key].indices for key in sparse],
        [found[key].values for key in sparse],
        [found[key].dense_shape for key in sparse],
        [found[key] for key in dense],
    ]


def _examples_v2(serialized, sparse_keys, dense_keys, ragged_keys, dense_defaults, sparse_types,
                 dense_shapes, ragged_value_types, ragged_split_types, **_):  # fmt: skip
    sparse, dense, ragged = _names(sparse_keys), _names(dense_keys), _names(ragged_keys)
    features = _features(sparse, sparse_types, dense, dense_defaults, dense_shapes)
    for key, dtype, splits in zip(ragged, ragged_value_types, ragged_split_types, strict=True):
        features[key] = tf.io.RaggedFeature(dtype, row_splits_dtype=splits)
    found = tf.io.parse_example(serialized, features)
    values = [found[key].values for key in ragged]
    return [*_parts(found, sparse, dense), values, [found[key].row_splits for key in ragged]]


def _one_example(serialized, dense_defaults, sparse_keys, dense_keys, sparse_types, dense_shapes,
                 **_):  # fmt: skip
    sparse, dense = _names(sparse_keys), _names(dense_keys)
    features = _features(sparse, sparse_types, dense, dense_defaults, dense_shapes)
    return _parts(tf.io.parse_single_example(serialized, features), sparse, dense)


# --- sparse tensors as texts ---------------------------------------------------------------------


def _texts_only(out_type):
    if out_type != tf.string:
        raise tf.errors.UnimplementedError(
            None, None, "sparse tensors are kept as texts: pass out_type=tf.string"
        )


def _serialized(sparse_indices, sparse_values, sparse_shape, out_type):
    _texts_only(out_type)
    parts = (sparse_indices, sparse_values, sparse_shape)
    return tf.stack([tf.io.serialize_tensor(part) for part in parts])


def _serialized_rows(sparse_indices, sparse_values, sparse_shape, out_type):
    """A text of three parts for each row along the first axis."""
    _texts_only(out_type)
    rows = []
    for row in range(int(sparse_shape[0])):
        mine = tf.reshape(tf.where(sparse_indices[:, 0] == row), [-1])
        indices = tf.gather(sparse_indices, mine)[:, 1:]
        values = tf.gather(sparse_values, mine)
        rows.append(_serialized(indices, values, sparse_shape[1:], out_type))
    return tf.stack(rows) if rows else tf.zeros([0, 3], tf.string)


def _deserialized(serialized_sparse, dtype):
    """One sparse tensor; those along the dimensions before the last, joined to one."""
    before = serialized_sparse.shape.as_list()[:-1]
    flat = tf.reshape(serialized_sparse, [-1, 3])
    indices, values, widest = [], [], None
    for at, (places, content, shape) in enumerate(map(tf.unstack, tf.unstack(flat))):
        places = tf.io.parse_tensor(places, tf.int64)
        index = []
        for size in reversed(before):
            at, where = divmod(at, size)
            index.insert(0, where)
        prefix = tf.tile(tf.constant([index], tf.int64, [1, len(index)]), [tf.shape(places)[0], 1])
        indices.append(tf.concat([prefix, places], 1))
        values.append(tf.io.parse_tensor(content, dtype))
        shape = tf.io.parse_tensor(shape, tf.int64)
        widest = shape if widest is None else tf.maximum(widest, shape)
    if widest is None:
        raise tf.errors.InvalidArgumentError(None, None, "there is no sparse tensor to read")
    whole = tf.concat([tf.constant(before, tf.int64, [len(before)]), widest], 0)
    return [tf.concat(indices, 0), tf.concat(values, 0), whole]


def _crossed(indices, values, shapes, dense_inputs, hashed_output, num_buckets, hash_key, **_):
    columns = _columns(indices, values, shapes, dense_inputs)
    if hashed_output:
        made = tf.sparse.cross_hashed(columns, num_buckets, hash_key)
    else:
        made = tf.sparse.cross(columns)
    return [made.indices, made.values, made.dense_shape]


def _crossed_by(indices, values, shapes, dense_inputs, sep):
    made = tf.sparse.cross(_columns(indices, values, shapes, dense_inputs), separator=sep)
    return [made.indices, made.values, made.dense_shape]


def _columns(indices, values, shapes, dense_inputs):
    parts = zip(indices, values, shapes, strict=True)
    return [*(tf.SparseTensor(*one) for one in parts), *dense_inputs]


WRITTEN = {
    "DeserializeManySparse": _deserialized,
    "DeserializeSparse": _deserialized,
    "ParseExample": _examples,
    "ParseExampleV2": _examples_v2,
    "ParseSingleExample": _one_example,
    "SerializeManySparse": _serialized_rows,
    "SerializeSparse": _serialized,
    "SparseCross": _crossed,
    "SparseCrossV2": _crossed_by,
}
