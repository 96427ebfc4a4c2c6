"""Conversion of functions in which nothing jumps: one return, at the end, and plain blocks.

Most functions are such. Their calls, conditions and blocks are converted in a few walks over the
tree, without the passes for everything else that Python has and without loading them.
"""

from __future__ import annotations

import ast
import linecache
import types

from tidemark.autograph import _blocks
from tidemark.autograph.experimental import set_loop_options

# What the other passes are for, and functions inside, which have scopes of their own.
_OTHERS = (
    ast.Try, ast.FunctionDef, ast.ClassDef, ast.Delete, ast.AsyncFunctionDef, ast.AsyncFor,
    ast.AsyncWith, ast.Yield, ast.YieldFrom, ast.Await, ast.Lambda, ast.NamedExpr, ast.Match,
    *([ast.TryStar] if hasattr(ast, "TryStar") else []),
)  # fmt: skip
# Where there are blocks, whose variables are counted: the statements that count them so.
_COUNTED = (
    *_blocks.STATEMENTS, ast.Assert, ast.Assign, ast.AugAssign, ast.Expr, ast.Pass, ast.Return,
    ast.With,
)  # fmt: skip
_FRAMES = {"locals", "eval", "exec", "globals", "super", "vars", "dir", "__class__"}
_CHANGING = {"append", "pop", "extend", "insert", "remove", "clear", "reverse", "sort"}
_LEFT_ALONE = {"breakpoint", "pdb.set_trace", "ipdb.set_trace"}


def transformed(function, options):
    """The tree of the converted function and its name; None if it needs the other passes."""
    if options.features:
        return None
    node = _definition(function)
    if node is None or not _is_straight(node):
        return None
    has_blocks = any(isinstance(part, _blocks.STATEMENTS) for part in ast.walk(node))
    if has_blocks and not _has_plain_blocks(node, function):
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
    converter = _Expressions(scope)
    first = node.body[0].lineno
    body = [converter.visit(statement) for statement in node.body]
    if has_blocks:
        body = _blocks.staged(node, body)
    node.body = [_scoped(first, function.__name__, scope, options, body)]
    return node, node.name


def _definition(function):
    """The tree of a function, its nodes on the user's lines; None if there is no source."""
    code = function.__code__
    if code.co_name == "<lambda>":
        return None
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    first = code.co_firstlineno - 1
    source = "".join(lines[first : _last_line(code, lines)])
    indented = source[:1].isspace()
    try:
        tree = ast.parse("if True:\n" + source if indented else source)
    except SyntaxError:
        return None
    body = tree.body[0].body if indented else tree.body
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef) or body[0].name != code.co_name:
        return None
    return ast.increment_lineno(body[0], first - 1 if indented else first)


def _last_line(code, lines):
    """The number of the last line of a function: what has code, and what is indented after it."""
    last = _last_line_with_code(code)
    head = lines[code.co_firstlineno - 1 : last]
    indentation = len(head[0]) - len(head[0].lstrip()) if head else 0
    for line in lines[last:]:
        text = line.lstrip()
        if text and not text.startswith("#") and len(line) - len(text) <= indentation:
            break
        last += 1
    return last


def _last_line_with_code(code):
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    inner = (value for value in code.co_consts if isinstance(value, types.CodeType))
    return max([last, *map(_last_line_with_code, inner)])


def _is_straight(node):
    for part in node.body:
        for inner in ast.walk(part):
            if isinstance(inner, _OTHERS):
                return False
            if isinstance(inner, ast.Return) and inner is not node.body[-1]:
                return False
            if isinstance(inner, ast.Compare) and len(inner.ops) > 1:
                return False
            if isinstance(inner, ast.Attribute) and _is_private(inner.attr):
                return False
            if isinstance(inner, ast.Name) and _is_private(inner.id):
                return False
            if isinstance(inner, ast.withitem) and _is_logical(inner):
                return False
    return True


def _is_logical(item):
    """Whether what makes a context depends on the truth of a value."""
    return any(isinstance(part, (ast.IfExp, ast.BoolOp, ast.Not)) for part in ast.walk(item))


def _has_plain_blocks(node, function):
    """Whether blocks assign variables only, and no list that a loop may lengthen."""
    lists = set()
    for part in ast.walk(node):
        if isinstance(part, ast.stmt) and not isinstance(part, _COUNTED) and part is not node:
            return False
        if isinstance(part, (ast.While, ast.For)) and part.orelse:
            return False
        if isinstance(part, _blocks.STATEMENTS) and any(map(_is_place, ast.walk(part))):
            return False
        if isinstance(part, ast.Name) and (part.id in _FRAMES or _is_option(part, function)):
            return False
        if isinstance(part, ast.Attribute) and part.attr in ("set_loop_options", *_CHANGING):
            return False
        if isinstance(part, ast.Assign) and not isinstance(part.value, (ast.Constant, ast.Name)):
            lists |= {t.id for t in part.targets if isinstance(t, ast.Name) and _may_list(part)}
    subscripts = (part for part in ast.walk(node) if isinstance(part, ast.Subscript))
    return not any(isinstance(s.value, ast.Name) and s.value.id in lists for s in subscripts)


def _is_place(node):
    """Whether something other than a variable is assigned."""
    places = (ast.Attribute, ast.Subscript)
    return isinstance(node, places) and isinstance(node.ctx, ast.Store)


def _may_list(assignment):
    lists = (ast.List, ast.ListComp)
    parts = list(ast.walk(assignment.value))
    return any(isinstance(p, lists) or (isinstance(p, ast.Name) and p.id == "list") for p in parts)


def _is_option(name, function):
    if function.__globals__.get(name.id) is set_loop_options:
        return True
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    try:
        return name.id in cells and cells[name.id].cell_contents is set_loop_options
    except ValueError:
        return False  # the cell has no value yet


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


def _scoped(line, name, scope, options, body):
    """The body within the context of a converted function."""
    made = ast.Call(
        _operator("FunctionScope"),
        [ast.Constant(name), ast.Constant(scope), options.to_ast()],
        [],
    )
    item = ast.withitem(made, ast.Name(scope, ast.Store()))
    around = ast.With(items=[item], body=body)
    for part in ast.walk(item):
        if "lineno" in part._attributes:
            part.lineno = part.end_lineno = line
            part.col_offset = part.end_col_offset = -1
    around.lineno = around.end_lineno = line
    around.col_offset = around.end_col_offset = -1
    return around


class _Expressions(ast.NodeTransformer):
    """``f(a, *b, c=d)`` becomes ``ag__.converted_call(f, (a, *b), {"c": d}, fscope)``, and what
    Python computes by the truth of a value a call as well."""

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

    def visit_For(self, node):
        call = node.iter
        counts = isinstance(call, ast.Call) and isinstance(call.func, (ast.Name, ast.Attribute))
        self.generic_visit(node)
        if counts and node.iter is not call:
            made = node.iter
            made.args[0] = _at(made, ast.Call(_operator("counting"), [made.args[0]], []))
        return node

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        made = node.values.pop()
        while node.values:
            sides = [_later(node.values.pop()), _later(made)]
            made = _at(node, ast.Call(_operator(operator), sides, []))
        return made

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return _at(node, ast.Call(_operator("not_"), [node.operand], []))

    def visit_IfExp(self, node):
        text = ast.Constant(ast.unparse(node.test))
        self.generic_visit(node)
        arguments = [node.test, _later(node.body), _later(node.orelse), text]
        return _at(node, ast.Call(_operator("if_exp"), arguments, []))

    def visit_Assert(self, node):
        self.generic_visit(node)
        message = ast.Constant(None) if node.msg is None else _later(node.msg)
        call = ast.Call(_operator("assert_stmt"), [node.test, message], [])
        return _at(node, ast.Expr(call))


def _later(value):
    """A function that gives the value when it is asked for."""
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return _at(value, ast.Lambda(args=nothing, body=value))
