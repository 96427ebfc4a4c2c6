"""Operations on tables: those of ``tf.lookup``, behind handles."""

from __future__ import annotations

import tidemark as tf
from tidemark._tensorflow.raw.handles import held, resource, shared
from tidemark.lookup._tables import DenseHashTable, MutableHashTable, _Table


class _StaticTable(_Table):
    """A table that one operation makes and another fills, once."""

    def __init__(self, key_dtype, value_dtype):
        nothing = tf.constant("" if value_dtype == tf.string else 0, value_dtype)
        super().__init__(key_dtype, value_dtype, nothing)
        self.is_filled = False

    def fill(self, keys, values):
        """What the table holds from now on; the same again is no mistake."""
        if self.is_filled and int(self.size()) != int(tf.size(keys)):
            raise tf.errors.FailedPreconditionError(None, None, "Table already initialized.")
        self._insert(keys, values)
        self.is_filled = True

    def _insert(self, keys, values):
        attrs = {**self._attrs, "overwrite": False}
        return tf._tidemark.call("table_insert", (keys, values), attrs)


def _static(key_dtype, value_dtype, container="", shared_name="", **_):
    return shared(lambda: _StaticTable(key_dtype, value_dtype), "table", container, shared_name)


def _zeros(dtype, shape=()):
    return tf.fill(list(shape), "") if dtype == tf.string else tf.zeros(shape, dtype)


def _mutable(key_dtype, value_dtype, container="", shared_name="", value_shape=(), **_):
    def make():
        return MutableHashTable(key_dtype, value_dtype, _zeros(value_dtype, value_shape))

    return shared(make, "table", container, shared_name)


def _dense(
    empty_key, value_dtype, deleted_key=None, container="", shared_name="", value_shape=(),
    initial_num_buckets=None, **_,
):  # fmt: skip
    def make():
        return DenseHashTable(
            empty_key.dtype, value_dtype, _zeros(value_dtype, value_shape), empty_key, deleted_key,
            initial_num_buckets=initial_num_buckets,
        )  # fmt: skip

    return shared(make, "table", container, shared_name)


def _initialize(table_handle, keys, values):
    held(table_handle, _StaticTable).fill(keys, values)


def _from_text_file(table_handle, filename, key_index, value_index, vocab_size, delimiter, offset):
    table = held(table_handle, _StaticTable)
    read = tf.lookup.TextFileInitializer(
        filename, table.key_dtype, key_index, table.value_dtype, value_index,
        None if vocab_size == -1 else vocab_size, delimiter, value_index_offset=offset,
    )  # fmt: skip
    table.fill(*read.contents())


def _find(table_handle, keys, default_value):
    table = held(table_handle, _Table)
    if isinstance(table, DenseHashTable):
        table._refuse_reserved(keys)
    elif isinstance(table, _StaticTable) and not table.is_filled:
        raise tf.errors.FailedPreconditionError(None, None, "Table not initialized.")
    return table._find(keys, default_value)


def _insert(table_handle, keys, values):
    held(table_handle, MutableHashTable).insert(keys, values)


def _remove(table_handle, keys):
    held(table_handle, MutableHashTable).remove(keys)


def _import(table_handle, keys, values):
    held(table_handle, MutableHashTable)._import(keys, values)


def _export(table_handle, **_):
    table = held(table_handle, _Table)
    if isinstance(table, MutableHashTable):
        return list(table.export())
    return list(tf._tidemark.call("table_export", (), table._attrs))


def _size(table_handle):
    return held(table_handle, _Table).size()


def _from_dataset(table_handle, dataset):
    from tidemark._tensorflow.raw.datasets import dataset_of  # few programs use these

    pairs = list(dataset_of(dataset))
    keys, values = (tf.stack(column) for column in zip(*pairs, strict=True))
    table = held(table_handle, _Table)
    table.fill(keys, values) if isinstance(table, _StaticTable) else table.insert(keys, values)


_BOTH = {
    "HashTable": _static,
    "InitializeTable": _initialize,
    "InitializeTableFromTextFile": _from_text_file,
    "LookupTableExport": _export,
    "LookupTableFind": _find,
    "LookupTableImport": _import,
    "LookupTableInsert": _insert,
    "LookupTableSize": _size,
    "MutableDenseHashTable": _dense,
    "MutableHashTable": _mutable,
    "MutableHashTableOfTensors": _mutable,
}

WRITTEN = {
    **_BOTH,
    **{name + "V2": function for name, function in _BOTH.items()},
    "AnonymousHashTable": lambda key_dtype, value_dtype: resource(
        _StaticTable(key_dtype, value_dtype)
    ),
    "AnonymousMutableDenseHashTable": _dense,
    "AnonymousMutableHashTable": _mutable,
    "AnonymousMutableHashTableOfTensors": _mutable,
    "InitializeTableFromDataset": _from_dataset,
    "LookupTableRemoveV2": _remove,
}
