"""Generated code under the user's lines."""

from __future__ import annotations

import ast

from malt.pyct import anno


def place(module, line):
    """Gives every node the line it was made from; a new one gets that of what stands around it."""
    _place(module, line)


def _place(node, line):
    origin = anno.getanno(node, anno.Basic.ORIGIN, default=None)
    if origin is None and isinstance(node, ast.stmt):
        origin = _first_origin(node)  # a statement made to stand around those of the user
    if origin is not None:
        line = origin.loc.lineno
    if "lineno" in node._attributes:
        node.lineno = node.end_lineno = line
        node.col_offset = node.end_col_offset = -1  # none: no part of the line is marked
    _settle_context(node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, tuple):
            value = list(value)
            setattr(node, field, value)
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST) and not isinstance(child, ast.expr_context):
                _place(child, line)


def _first_origin(node):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.expr)):
            origin = anno.getanno(child, anno.Basic.ORIGIN, default=None) or _first_origin(child)
            if origin is not None:
                return origin
    return None


def _settle_context(node):
    """Makes contexts agree with where expressions stand; passes reuse nodes in other places."""
    if isinstance(node, (ast.Assign, ast.Delete)):
        context = ast.Store() if isinstance(node, ast.Assign) else ast.Del()
        for target in node.targets:
            _set_context(target, context)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.comprehension)):
        _set_context(node.target, ast.Store())
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        _set_context(node.optional_vars, ast.Store())
    elif isinstance(node, ast.NamedExpr):
        if isinstance(node.target, ast.Call):
            node.target = node.target.args[0]  # taken for a reading of the variable
        _set_context(node.target, ast.Store())
    for field, value in ast.iter_fields(node):
        if field in ("targets", "target", "optional_vars"):
            continue
        if field == "elts" or (field == "value" and isinstance(node, ast.Starred)):
            continue  # as their tuple, list or star
        for child in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(child, ast.expr) and hasattr(child, "ctx"):
                _set_context(child, ast.Load())


def _set_context(node, context):
    if isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            _set_context(element, context)
    elif isinstance(node, ast.Starred):
        _set_context(node.value, context)
    if hasattr(node, "ctx"):
        node.ctx = context
