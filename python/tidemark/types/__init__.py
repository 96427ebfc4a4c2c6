"""``tf.types``: names for annotations."""

from tidemark.types import experimental
