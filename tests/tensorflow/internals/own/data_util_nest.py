"""``tensorflow.python.data.util.nest``: ``tf.nest`` for which lists are no structures."""

import tensorflow as tf


class _List:
    def __init__(self, value):
        self.value = value


def _hide(structure):
    if isinstance(structure, list):
        return _List(structure)
    if isinstance(structure, dict):
        return type(structure)((key, _hide(value)) for key, value in structure.items())
    if isinstance(structure, tuple):
        inner = [_hide(value) for value in structure]
        return type(structure)(*inner) if hasattr(structure, "_fields") else tuple(inner)
    return structure


def _show(value):
    return value.value if isinstance(value, _List) else value


def flatten(structure):
    return [_show(value) for value in tf.nest.flatten(_hide(structure))]


def map_structure(func, *structures, **_):
    hidden = [_hide(structure) for structure in structures]
    return tf.nest.map_structure(lambda *values: func(*map(_show, values)), *hidden)


def pack_sequence_as(structure, flat):
    return tf.nest.map_structure(
        _show, tf.nest.pack_sequence_as(_hide(structure), [_hide(value) for value in flat])
    )


def assert_same_structure(one, other, check_types=True):
    tf.nest.assert_same_structure(_hide(one), _hide(other), check_types=check_types)


def is_nested(value):
    return not isinstance(value, list) and tf.nest.is_nested(value)


is_sequence = is_nested
