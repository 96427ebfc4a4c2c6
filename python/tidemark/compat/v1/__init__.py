"""``tf.compat.v1``: TensorFlow 1's names for what runs at once.

What has the same signature as in TensorFlow 2 is the same thing; the others are written here.
"""

from __future__ import annotations

import importlib as _importlib
import sys as _sys

from tidemark._export import refusing as _refusing
from tidemark.compat.v1 import math, nn
from tidemark.compat.v1._arguments import (
    argmax,
    argmin,
    constant,
    convert_to_tensor,
    count_nonzero,
    expand_dims,
    name_scope,
    norm,
    ones_like,
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    shape,
    size,
    squeeze,
    transpose,
    zeros_like,
)
from tidemark.compat.v1._functions import (
    SummaryMetadata,
    boolean_mask,
    cond,
    executing_eagerly_outside_functions,
    foldl,
    foldr,
    gather,
    gather_nd,
    map_fn,
    pad,
    scan,
    sparse_concat,
    sparse_placeholder,
    where,
    while_loop,
)
from tidemark.tensor_shape import Dimension

_MODULES = ("app", "data", "flags", "gfile", "image", "initializers", "io", "logging", "python_io",
            "ragged", "random", "sparse", "strings", "test")  # fmt: skip


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "summary":
        from tidemark._v1 import summary  # only sessions need it

        return summary
    if name in ("Variable", "VariableV1"):
        return _importlib.import_module("tidemark.compat.v1._variable").Variable
    if name in _MODULES:
        return _importlib.import_module(f"tidemark.compat.v1.{name}")
    from tidemark._v1.names import find  # only sessions need it

    found = find(name)
    if found is not None:
        return found
    try:
        return getattr(_sys.modules["tidemark"], name)
    except AttributeError:
        return _refusing("tf.compat.v1")(name)
