"""``tensorflow.python.keras``: what packages still take from there, of the Keras that is used."""

from __future__ import annotations

import tidemark as tf

_HOMES = {"InputSpec": "layers", "Callback": "callbacks", "Layer": "layers", "Model": "models"}


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(getattr(tf.keras, _HOMES[name]), name)


def expand_1d(data):
    """The structure with vectors as columns."""

    def expand(t):
        is_vector = isinstance(t, tf.Tensor) and t.shape.rank == 1
        return tf.expand_dims(t, axis=-1) if is_vector else t

    return tf.nest.map_structure(expand, data)


def unpack_x_y_sample_weight(data):
    """Inputs, targets and weights out of what a dataset gives; None for what is not there."""
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return (data, None, None)
    if len(data) > 3:
        raise ValueError(
            f"Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, "
            f"found: {data}"
        )
    return (*data, *(None,) * (3 - len(data)))
