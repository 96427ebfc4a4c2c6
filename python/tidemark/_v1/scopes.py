"""Grouping operations, and the scopes that share variables."""

from __future__ import annotations

import tidemark as tf
from tidemark import _tidemark
from tidemark._v1.graph import Operation, current_place, dependencies, name_result
from tidemark._v1.variable_scopes import (
    AUTO_REUSE,
    VariableScope,
    get_variable,
    get_variable_scope,
    variable_scope,
)

__all__ = ["AUTO_REUSE", "VariableScope", "get_variable", "get_variable_scope", "group", "no_op",
           "variable_scope", "with_dependencies"]  # fmt: skip


def group(*inputs, name=None):
    """An operation that runs all the given ones."""
    flat = []
    for item in inputs:
        flat.extend(item if isinstance(item, (list, tuple)) else [item])
    flat = [item for item in flat if item is not None]
    if current_place() is None:
        return None
    with dependencies(flat):
        made = Operation(_tidemark.no_op())
    name_result(made, name or ("group_deps" if flat else None))
    return made


def no_op(name=None):
    """An operation that does nothing."""
    return group(name=name)


def with_dependencies(before, tensor, name=None):
    """The tensor, after the given operations."""
    with dependencies(before):
        return tf.identity(tensor, name=name)
