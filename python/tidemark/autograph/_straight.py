"""Conversion of functions that only compute: no branch, no loop, one return at the end.

Most functions are such. Their calls have to be converted and nothing else, which takes one pass
over the tree and a tenth of the time of all passes.
"""

from __future__ import annotations

import ast
import inspect

# What the other passes are for, and functions inside, which have scopes of their own.
_STATEMENTS = (
    ast.If, ast.While, ast.For, ast.Assert, ast.Try, ast.FunctionDef, ast.ClassDef, ast.Delete,
    ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Yield, ast.YieldFrom, ast.Await,
    ast.IfExp, ast.BoolOp, ast.Not, ast.Lambda, ast.NamedExpr, ast.Match,
)  # fmt: skip
_LEFT_ALONE = {"breakpoint", "pdb.set_trace", "ipdb.set_trace"}


def transformed(function, options):
    """The tree of the converted function and its name; None if it needs the other passes."""
    if options.features:
        return None
    node = _definition(function)
    if node is None or not _is_straight(node):
        return None
    scope = _unused("fscope", node)
    node.name = "tf__" + node.name
    node.decorator_list = []
    node.returns = None
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    node.args.defaults = [_at(d, ast.Constant(None)) for d in node.args.defaults]
    node.args.kw_defaults = [d and _at(d, ast.Constant(None)) for d in node.args.kw_defaults]
    calls = _Calls(scope)
    body = [calls.visit(statement) for statement in node.body]
    node.body = [_scoped(node, function.__name__, scope, options, body)]
    return node, node.name


def _definition(function):
    """The tree of a function, its nodes on the user's lines; None if there is no source."""
    code = function.__code__
    if code.co_name == "<lambda>":
        return None
    try:
        lines, first = inspect.findsource(code)
        source = "".join(inspect.getblock(lines[first:]))
        indented = source[:1].isspace()
        tree = ast.parse("if True:\n" + source if indented else source)
    except (OSError, TypeError, IndentationError, SyntaxError):
        return None
    node = tree.body[0].body[0] if indented else tree.body[0]
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return None
    return ast.increment_lineno(node, first - 1 if indented else first)


def _is_straight(node):
    for part in node.body:
        for inner in ast.walk(part):
            if isinstance(inner, _STATEMENTS):
                return False
            if isinstance(inner, ast.Return) and inner is not node.body[-1]:
                return False
            if isinstance(inner, ast.Compare) and len(inner.ops) > 1:
                return False
            if isinstance(inner, ast.Attribute) and _is_private(inner.attr):
                return False
            if isinstance(inner, ast.Name) and _is_private(inner.id):
                return False
    return True


def _is_private(name):
    return name.startswith("__") and not name.endswith("__")


def _unused(name, node):
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    used |= {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    while name in used:
        name += "_"
    return name


def _at(place, made):
    ast.copy_location(made, place)
    return ast.fix_missing_locations(made)


def _operator(name):
    return ast.Attribute(ast.Name("ag__", ast.Load()), name, ast.Load())


def _scoped(node, name, scope, options, body):
    """The body within the context of a converted function."""
    made = ast.Call(
        _operator("FunctionScope"),
        [ast.Constant(name), ast.Constant(scope), options.to_ast()],
        [],
    )
    item = ast.withitem(made, ast.Name(scope, ast.Store()))
    around = ast.With(items=[item], body=[])
    for part in ast.walk(_at(node.body[0], around)):
        if hasattr(part, "lineno"):
            part.lineno = part.end_lineno = node.body[0].lineno
            part.col_offset = part.end_col_offset = -1
    around.body = body
    return around


class _Calls(ast.NodeTransformer):
    """``f(a, *b, c=d)`` becomes ``ag__.converted_call(f, (a, *b), {"c": d}, fscope)``."""

    def __init__(self, scope):
        self._scope = scope

    def visit_withitem(self, node):
        return node  # what makes a context is called as it is

    def visit_Call(self, node):
        self.generic_visit(node)
        name = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
        if name == "print" or name in _LEFT_ALONE:
            return node
        keywords = ast.Constant(None)
        if node.keywords:
            keys = [k.arg and ast.Constant(k.arg) for k in node.keywords]
            keywords = ast.Dict(keys=keys, values=[k.value for k in node.keywords])
        arguments = ast.Tuple(elts=node.args, ctx=ast.Load())
        scope = ast.Name(self._scope, ast.Load())
        called = _operator("converted_call")
        return _at(node, ast.Call(called, [node.func, arguments, keywords, scope], []))
