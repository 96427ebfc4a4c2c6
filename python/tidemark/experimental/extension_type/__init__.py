"""``tf.experimental.extension_type``: types of a program's own that TensorFlow's functions take.

class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

Masked([1, 2, 3], [True, False, True])        # fields are converted, and never change
"""

from __future__ import annotations

from tidemark.experimental.extension_type import _types


def as_dict(value):
    """The fields of a value by their names."""
    return {field.name: getattr(value, field.name) for field in _types.fields_of(type(value))}
