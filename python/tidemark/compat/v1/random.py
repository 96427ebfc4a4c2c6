"""``tf.compat.v1.random``."""

from __future__ import annotations

import tidemark as tf
from tidemark import _tidemark, dtypes
from tidemark import random as _random
from tidemark.random import _state


def set_random_seed(seed):
    """The seed of the graph that is built here, or of the program."""
    from tidemark._v1.names import set_random_seed as set_seed  # only sessions need it

    set_seed(seed)


def get_seed(op_seed):
    """The two seeds of an operation: of its graph, or of the program, and its own."""
    if not _tidemark.is_tracing():
        return _state.seeds_for_operation(op_seed)
    from tidemark._v1.graph import get_default_graph  # only sessions need it

    graph = get_default_graph()
    if graph.seed is None and op_seed is None:
        return None, None
    first = _state.DEFAULT_SEED if graph.seed is None else graph.seed
    return _state.kept_small(first, graph.version if op_seed is None else op_seed)


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    """Classes drawn with probabilities softmax(logits)."""
    return tf.random.categorical(logits, num_samples, output_dtype or dtypes.int64, seed)


def stateless_multinomial(logits, num_samples, seed, output_dtype=dtypes.int64, name=None):
    """Classes drawn with probabilities softmax(logits) that depend on the seed alone."""
    return tf.random.stateless_categorical(logits, num_samples, seed, output_dtype)


def poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None):
    """Poisson numbers, ``shape`` of them for each mean."""
    return tf.random.poisson(shape, lam, dtype, seed)


def __getattr__(name):
    if name == "set_seed":
        raise AttributeError("module 'tensorflow.compat.v1.random' has no attribute 'set_seed'")
    return getattr(_random, name)
