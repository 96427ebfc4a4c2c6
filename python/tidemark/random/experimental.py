"""``tf.random.experimental``: names that moved to ``tf.random``, and stateless shuffling."""

from __future__ import annotations

from tidemark._creation import convert_to_tensor
from tidemark.random import (
    Algorithm,
    Generator,
    _draws,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from tidemark.random import fold_in as stateless_fold_in
from tidemark.random import split as stateless_split


def stateless_shuffle(value, seed, alg="auto_select", name=None):
    """The slices along the first dimension in an order that depends on the seed alone."""
    value = convert_to_tensor(value)
    return _draws.shuffle(value, seed) if value.ndim else value
