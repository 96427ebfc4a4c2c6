"""``tf.compat.v1``: TensorFlow 1's names for what runs at once.

What has the same signature as in TensorFlow 2 is the same thing; the others are written here.
"""

from __future__ import annotations

import sys as _sys

from tidemark.compat.v1 import math, nn
from tidemark.compat.v1._functions import (
    SummaryMetadata,
    assign,
    assign_add,
    assign_sub,
    boolean_mask,
    cond,
    executing_eagerly_outside_functions,
    foldl,
    foldr,
    gather,
    gather_nd,
    get_default_graph,
    gradients,
    map_fn,
    pad,
    placeholder,
    placeholder_with_default,
    random_normal_initializer,
    random_uniform_initializer,
    reset_default_graph,
    scan,
    sparse_concat,
    sparse_placeholder,
    where,
    while_loop,
)
from tidemark.tensor_shape import Dimension


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_sys.modules["tidemark"], name)
