"""``tensorflow.python.util.nest``: what is not exported under the same name."""

import tensorflow as tf

is_sequence = is_nested = is_nested_or_composite = tf.nest.is_nested


def flatten_up_to(shallow, deep, check_types=True, expand_composites=False):
    found = []
    map_structure_up_to(shallow, found.append, deep)
    return found


def map_structure_up_to(shallow, func, *deep, **_):
    if not tf.nest.is_nested(shallow):
        return func(*deep)
    if isinstance(shallow, dict):
        return {k: map_structure_up_to(v, func, *(d[k] for d in deep)) for k, v in shallow.items()}
    return [map_structure_up_to(s, func, *d) for s, *d in zip(shallow, *deep, strict=True)]
