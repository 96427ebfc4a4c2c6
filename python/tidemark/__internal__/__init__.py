"""``tf.__internal__``: what Keras and other libraries close to TensorFlow reach for."""

from __future__ import annotations

import importlib as _importlib

from tidemark.__internal__ import (
    decorator,
    dispatch,
    distribute,
    eager_context,
    smart_cond,
    tf2,
    tracking,
    types,
)
from tidemark._graph.func_graph import FuncGraph
from tidemark._tensor.kinds import EagerTensor, SymbolicTensor
from tidemark._tensor.specs import CompositeTensor

# Loaded on first use: modules, and names with the module they are in.
_MODULES = ("autograph", "feature_column", "function", "mixed_precision", "monitoring", "nest",
            "ops", "saved_model", "test", "train")  # fmt: skip
_HOOKS = (
    "create_c_op", "execute_fn_for_device", "get_name_scope", "load_context",
    "record_gradient", "register_call_context_function", "register_clear_session_function",
    "register_get_session_function", "register_load_model_function",
)  # fmt: skip


def __getattr__(name):
    if name in _MODULES:
        return _importlib.import_module(f"tidemark.__internal__.{name}")
    if name in _HOOKS:
        return getattr(_importlib.import_module("tidemark.__internal__._hooks"), name)
    raise AttributeError(f"module 'tensorflow.__internal__' has no attribute {name!r}")
