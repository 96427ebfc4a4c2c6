"""Conversion with diastatic-malt's passes, which make statements into calls of functions.

Imported when the first function is converted that has a statement to stage.
"""

from __future__ import annotations

import ast
import importlib.util  # noqa: F401  malt uses it without importing it

from malt.converters import (
    break_statements,
    call_trees,
    conditional_expressions,
    continue_statements,
    functions,
    logical_expressions,
    return_statements,
    variables,
)
from malt.pyct import (
    anno,
    cfg,
    inspect_utils,
    naming,
    origin_info,
    parser,
    qual_names,
    transformer,
)
from malt.pyct.static_analysis import activity, reaching_definitions

from tidemark.autograph import _loop_else, _passes, _positions


class _UserContext:
    """What malt's passes ask for."""

    def __init__(self, options):
        self.options = options


def transformed(function, options):
    """The tree of the converted function, and its name."""
    features = inspect_utils.getfutureimports(function)
    try:
        node, source = parser.parse_entity(function, features)
    except (OSError, TypeError) as error:
        raise ValueError(
            f"Unable to locate the source code of {function}. Functions defined in the interactive "
            "Python shell or by exec do not have any; define them in a .py file. "
            f"Original error: {error}"
        ) from error
    code = function.__code__
    _resolve_lines(node, source, code)
    namespace = inspect_utils.getnamespace(function)
    namer = naming.Namer(namespace)
    plain = "lambda" if isinstance(node, ast.Lambda) else node.name
    name = namer.new_symbol("tf__" + plain, ())
    info = transformer.EntityInfo(name, source, code.co_filename, features, namespace)
    context = transformer.Context(info, namer, _UserContext(options))
    node = _without_defaults(node)
    node = _passed(node, context, function)
    if isinstance(node, ast.Lambda):
        node = ast.Assign(targets=[ast.Name(name, ctx=ast.Store())], value=node)
    else:
        node.name = name
    _positions.place(node, code.co_firstlineno)
    return node, name


def _resolve_lines(node, source, code):
    """Notes at every node the user's line that it comes from."""
    lines = source.split("\n")
    indented = lines[0] if lines else ""
    column = len(indented) - len(indented.lstrip())
    origin_info.resolve(node, source, code.co_filename, code.co_firstlineno, column)


def _without_defaults(node):
    """Default values are set from the original function, not computed again."""
    arguments = node.args
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(None) for d in arguments.kw_defaults]
    return node


def _passed(node, context, function):
    """The tree after all passes."""
    _passes.check_supported(node)
    node = _passes.mangle(node, function)
    node = _loop_else.move_else(node)
    node = _passes.simplify_tries(node)
    node = _passes.mark_lists(node)
    graphs = cfg.build(node)
    node = qual_names.resolve(node)
    node = activity.resolve(node, context, None)
    node = reaching_definitions.resolve(node, context, graphs)
    anno.dup(node, {anno.Static.DEFINITIONS: anno.Static.ORIG_DEFINITIONS})
    _passes.forget_operators(node)

    node = functions.transform(node, context)
    node = _passes.take_directives(node, context)
    node = break_statements.transform(node, context)
    node = _passes.convert_asserts(node)
    node = continue_statements.transform(node, context)
    node = return_statements.transform(node, context)
    node = call_trees.transform(node, context)
    node = _passes.convert_control_flow(node, context)
    node = conditional_expressions.transform(node, context)
    node = logical_expressions.transform(node, context)
    return variables.transform(node, context)
