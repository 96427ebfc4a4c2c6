"""The tables of ``tf.lookup``. Their bytes belong to the runtime and go with the Python object."""

from __future__ import annotations

import itertools

import numpy as np

from tidemark import _tidemark, dtypes
from tidemark._graph.tracing import lifted
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import call
from tidemark._trackable.tracking import Trackable
from tidemark.errors import InvalidArgumentError
from tidemark.tensor_shape import TensorShape

_numbers = itertools.count(1)


def _structure(keys):
    """Ragged and sparse keys: what is looked up, and how the values get their place again."""
    if hasattr(keys, "with_flat_values"):
        return keys.flat_values, keys.with_flat_values
    if hasattr(keys, "dense_shape"):
        return keys.values, lambda values: type(keys)(keys.indices, values, keys.dense_shape)
    return keys, None


class _Table(Trackable):
    """What all tables share: dtypes, size and lookup."""

    def __init__(self, key_dtype, value_dtype, default_value, value_shape=(), name=None):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)
        self._value_shape = TensorShape(value_shape)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self._name = name or f"hash_table_{next(_numbers)}"
        shape = [int(size) for size in self._value_shape]
        self._table = _tidemark.new_table(self._key_dtype.name, self._value_dtype.name, shape)
        self._attrs = {"table": self._table.number}
        if _tidemark.builds_for_sessions():
            from tidemark._v1.graph import get_default_graph  # only sessions need it

            # As in TensorFlow 1, what runs later finds it though the program has let go of it.
            get_default_graph().get_collection_ref("tables_of_the_graph").append(self._table)

    @property
    def key_dtype(self):
        return self._key_dtype

    @property
    def value_dtype(self):
        return self._value_dtype

    @property
    def default_value(self):
        return self._default_value

    @property
    def name(self):
        return self._name

    @property
    def resource_handle(self):
        return self._table

    def size(self, name=None):
        """The number of keys."""
        return call("table_size", (), self._attrs)

    def _keys(self, keys):
        keys = convert_to_tensor(keys)
        if keys.dtype != self._key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self._key_dtype}, received: {keys.dtype}"
            )
        return keys

    def _find(self, keys, default):
        return call("table_find", (self._keys(keys), default), self._attrs)

    def lookup(self, keys, name=None):
        """The values of the keys; the default value for those that are not there."""
        keys, rebuild = _structure(keys)
        values = self._find(keys, self._default_value)
        return values if rebuild is None else rebuild(values)

    def __getitem__(self, keys):
        return self.lookup(keys)


class StaticHashTable(_Table):
    """A table that is filled once, by its initializer."""

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        key_dtype, value_dtype = initializer.key_dtype, initializer.value_dtype
        super().__init__(key_dtype, value_dtype, default_value, (), name)
        if self._default_value.ndim != 0:
            raise ValueError(f"default_value must be a scalar, got {self._default_value.shape}")
        self._initializer = initializer
        initializer.initialize(self)

    def _fill(self, keys, values):
        attrs = {**self._attrs, "overwrite": False}
        if not (_tidemark.is_symbolic(keys) or _tidemark.is_symbolic(values)):
            with lifted():  # also where a graph is being built
                call("table_insert", (keys, values), attrs)
            return
        filled = call("table_insert", (keys, values), attrs)
        if _tidemark.builds_for_sessions():
            from tidemark._v1.graph import GraphKeys, get_default_graph  # only sessions need it

            get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, filled)

    def export(self, name=None):
        """All keys and their values."""
        return call("table_export", (), self._attrs)


class StaticVocabularyTable:
    """A static table to indices, with buckets behind them for what is not there."""

    def __init__(
        self,
        initializer,
        num_oov_buckets,
        lookup_key_dtype=None,
        name=None,
        experimental_is_anonymous=False,
    ):
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        if lookup_key_dtype is None:
            lookup_key_dtype = initializer.key_dtype if initializer else dtypes.string
        self._lookup_key_dtype = dtypes.as_dtype(lookup_key_dtype)
        if self._lookup_key_dtype not in (dtypes.string, dtypes.int32, dtypes.int64):
            raise TypeError(
                f"Invalid `key_dtype`, expected one of int32, int64, string, received "
                f"{self._lookup_key_dtype}."
            )
        self._num_oov_buckets = int(num_oov_buckets)
        self._name = name or f"vocabulary_table_{next(_numbers)}"
        self._table = None
        if initializer is not None:
            if initializer.value_dtype != dtypes.int64:
                raise TypeError(
                    f"Invalid `value_dtype`, expected int64 but got {initializer.value_dtype}."
                )
            self._table = StaticHashTable(initializer, -1)

    @property
    def key_dtype(self):
        return self._lookup_key_dtype

    @property
    def value_dtype(self):
        return dtypes.int64

    @property
    def name(self):
        return self._name

    @property
    def resource_handle(self):
        return None if self._table is None else self._table.resource_handle

    def size(self, name=None):
        """The number of keys and buckets together."""
        buckets = convert_to_tensor(self._num_oov_buckets, dtype=dtypes.int64)
        return buckets if self._table is None else self._table.size() + buckets

    def lookup(self, keys, name=None):
        """The index of each key, or of the bucket it falls into."""
        keys, rebuild = _structure(keys)
        keys = convert_to_tensor(keys)
        if keys.dtype != self._lookup_key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self._lookup_key_dtype}, received: {keys.dtype}"
            )
        texts = keys
        if keys.dtype.is_integer:
            keys = cast(keys, dtypes.int64)
            texts = call("as_string", (keys,), {})
        values = call(
            "string_to_hash_bucket_fast", (texts,), {"num_buckets": self._num_oov_buckets}
        )
        if self._table is not None:
            if keys.dtype != self._table.key_dtype:
                keys = cast(keys, self._table.key_dtype)
            found = self._table.lookup(keys)
            values = call("select", (found >= 0, found, values + self._table.size()), {})
        return values if rebuild is None else rebuild(values)

    def __getitem__(self, keys):
        return self.lookup(keys)


class MutableHashTable(_Table):
    """A table that is filled and emptied as a program goes."""

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        name="MutableHashTable",
        checkpoint=True,
        experimental_is_anonymous=False,
    ):
        value_dtype = dtypes.as_dtype(value_dtype)
        shape = convert_to_tensor(default_value, dtype=value_dtype).shape
        super().__init__(key_dtype, value_dtype, default_value, shape, name)

    def lookup(self, keys, dynamic_default_values=None, name=None):
        """The values of the keys; the default value for those that are not there."""
        keys, rebuild = _structure(keys)
        default = self._default_value
        if dynamic_default_values is not None:
            default = convert_to_tensor(dynamic_default_values, dtype=self._value_dtype)
        values = self._find(keys, default)
        return values if rebuild is None else rebuild(values)

    def insert(self, keys, values, name=None):
        """Sets the values of the keys."""
        values = convert_to_tensor(values, dtype=self._value_dtype)
        call("table_insert", (convert_to_tensor(keys, dtype=self._key_dtype), values), self._attrs)

    def remove(self, keys, name=None):
        """Takes the keys out, those that are there."""
        call("table_remove", (self._keys(keys),), self._attrs)

    erase = remove

    def export(self, name=None):
        """All keys and their values."""
        return call("table_export", (), self._attrs)

    def _import(self, keys, values):
        """Holds these keys and values from now on, and no others."""
        self._table.clear()
        self.insert(keys, values)


def _are_free(taken, count):
    out = np.ones(count, bool)
    out[taken] = False
    return out


_FULLEST = 0.8  # of the buckets of a dense table; with more keys there are twice as many


class DenseHashTable(MutableHashTable):
    """A table that changes, in which two keys are set aside."""

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        empty_key,
        deleted_key,
        initial_num_buckets=None,
        name="MutableDenseHashTable",
        checkpoint=True,
        experimental_is_anonymous=False,
    ):
        super().__init__(key_dtype, value_dtype, default_value, name)
        key_dtype = self._key_dtype
        self._buckets = 1 << 17 if initial_num_buckets is None else int(initial_num_buckets)
        if self._buckets < 4 or self._buckets & (self._buckets - 1):
            raise InvalidArgumentError(
                None, None, "Number of buckets must be at least 4 and a power of 2, got: "
                f"{self._buckets}"
            )  # fmt: skip
        self._deleted = 0  # buckets of keys that were taken out since their number last grew
        self._reserved = [
            convert_to_tensor(key, dtype=key_dtype) for key in (empty_key, deleted_key)
        ]
        if self._reserved[0].numpy() == self._reserved[1].numpy():
            raise InvalidArgumentError(None, None, "Empty and deleted keys cannot be equal")

    def _refuse_reserved(self, keys):
        for key, what in zip(self._reserved, ("empty_key", "deleted_key"), strict=True):
            if call("any", (call("equal", (keys, key), {}),), {}).numpy():
                raise InvalidArgumentError(
                    None, None, f"Using the {what} as a table key is not allowed"
                )

    def lookup(self, keys, name=None):
        """The values of the keys; the default value for those that are not there."""
        self._refuse_reserved(_structure(keys)[0])
        return super().lookup(keys)

    def insert(self, keys, values, name=None):
        """Sets the values of the keys."""
        keys = convert_to_tensor(keys, dtype=self._key_dtype)
        wanted = int(self.size()) + (keys.shape[0] if keys.ndim else 1)
        while wanted > _FULLEST * self._buckets:
            self._buckets, self._deleted = 2 * self._buckets, 0
        self._refuse_reserved(keys)
        super().insert(keys, values)

    def remove(self, keys, name=None):
        """Takes the keys out, those that are there."""
        keys = convert_to_tensor(keys, dtype=self._key_dtype)
        self._refuse_reserved(keys)
        before = int(self.size())
        super().remove(keys)
        self._deleted += before - int(self.size())

    erase = remove

    def export(self, name=None):
        """A row for each bucket: its key, or one of those set aside, and its value. A key has the
        bucket that TensorFlow's hash finds it in."""
        keys, values = super().export()
        count = keys.shape[0]
        buckets = self._buckets_of(keys)
        empty, gone = (call("reshape", (key, [1]), {}) for key in self._reserved)
        rows = np.full(self._buckets, count)  # which key; behind them the two set aside
        rows[np.flatnonzero(_are_free(buckets, self._buckets))[: self._deleted]] = count + 1
        rows[buckets] = np.arange(count)
        zero = convert_to_tensor("" if self._value_dtype == dtypes.string else 0, self._value_dtype)
        filling = [[0, 2], *[[0, 0]] * (values.ndim - 1)]
        keys = call("gather", (call("concat", (keys, empty, gone), {"axis": 0}), rows), {})
        values = call("gather", (call("pad", (values, filling, zero), {}), rows), {})
        keys = call("expand_dims", (keys,), {"axis": 1})
        return keys, values if values.ndim > 1 else call("expand_dims", (values,), {"axis": 1})

    def _buckets_of(self, keys):
        """The bucket of each key: its hash's, or where that is taken the first free one of those
        1, 3, 6, 10, … further on."""
        if self._key_dtype == dtypes.string:
            count = {"num_buckets": self._buckets}
            at = call("string_to_hash_bucket", (keys,), count).numpy()
        else:
            at = keys.numpy().astype(np.int64) & (self._buckets - 1)
        is_free = np.ones(self._buckets, bool)
        left, found = np.arange(len(at)), at.copy()
        for step in itertools.count(1):
            # The first of those that want the same bucket has it.
            wanted, first = np.unique(found[left], return_index=True)
            placed = first[is_free[wanted]]
            is_free[found[left[placed]]] = False
            left = np.delete(left, placed)
            if not len(left):
                return found
            found[left] = (found[left] + step) & (self._buckets - 1)

    def _import(self, keys, values):
        """Takes rows as ``export`` gives them; those of buckets without a key are left out."""
        keys = call("reshape", (keys, [-1]), {})
        values = call("reshape", (values, [-1, *self._value_shape.as_list()]), {})
        unlike = [call("not_equal", (keys, key), {}) for key in self._reserved]
        used = call("logical_and", tuple(unlike), {})
        super()._import(*(call("boolean_mask", (rows, used), {}) for rows in (keys, values)))
