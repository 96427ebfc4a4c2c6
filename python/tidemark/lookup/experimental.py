"""``tf.lookup.experimental``: tables that change."""

from tidemark.lookup._tables import DenseHashTable, MutableHashTable

__all__ = ["DenseHashTable", "MutableHashTable"]
