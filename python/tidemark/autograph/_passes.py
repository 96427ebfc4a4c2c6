"""Passes over the tree that are our own, beside malt's."""

from __future__ import annotations

import ast
import inspect

from malt.converters import control_flow
from malt.pyct import anno, cfg, errors, qual_names
from malt.pyct.static_analysis import activity, liveness, reaching_definitions, reaching_fndefs

from tidemark.autograph.experimental import set_loop_options

# The annotation of a loop that survives all passes: option → expression.
_OPTIONS = anno.Basic.DIRECTIVES


# --- what cannot be converted ---------------------------------------------------------------------


class _Checker(ast.NodeVisitor):
    def _refuse(self, what):
        raise errors.UnsupportedLanguageElementError(what)

    def visit_While(self, node):
        self._refuse_assignment(node.test)
        self.generic_visit(node)

    def _refuse_assignment(self, node):
        """What becomes a function of its own cannot assign a variable of this one."""
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            self._refuse("an assignment (:=) in a condition of several parts is not supported")

    def visit_BoolOp(self, node):
        self._refuse_assignment(node)
        self.generic_visit(node)

    visit_IfExp = visit_BoolOp

    def visit_Compare(self, node):
        if len(node.ops) > 1:
            self._refuse_assignment(node)
        self.generic_visit(node)

    def visit_Yield(self, node):
        self._refuse("generators are not supported")

    visit_YieldFrom = visit_Yield

    def visit_Await(self, node):
        self._refuse("coroutines are not supported")

    visit_AsyncFor = visit_AsyncWith = visit_AsyncFunctionDef = visit_Await


def check_supported(node):
    """Raises where the function has something that the passes cannot take."""
    _Checker().visit(node)


# --- try ------------------------------------------------------------------------------------------


class _Tries(ast.NodeTransformer):
    """Statements that malt does not know, in the words of those that it does."""

    def visit_Try(self, node):
        self.generic_visit(node)
        if node.orelse:  # malt takes the first statement for the name of the branch
            node.orelse.insert(0, _at(node.orelse[0], ast.Pass()))
        return node

    def visit_ExceptHandler(self, node):
        """``except E as e: ...`` assigns ``e`` in its body, and forgets it at the end."""
        self.generic_visit(node)
        if node.name is None:
            return node
        first = node.body[0]

        def assigned(value):
            return _at(first, ast.Assign(targets=[ast.Name(name, ast.Store())], value=value))

        name, node.name = node.name, None
        error = assigned(_operator("handled_error", []))
        around = ast.Try(
            body=node.body, handlers=[], orelse=[], finalbody=[assigned(ast.Constant(None))]
        )
        node.body = [error, ast.copy_location(around, first)]
        return node


def simplify_tries(node):
    return _Tries().visit(node)


# --- private names --------------------------------------------------------------------------------


class _Mangler(ast.NodeTransformer):
    def __init__(self, owner):
        self._owner = owner.lstrip("_")

    def _mangled(self, name):
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return f"_{self._owner}{name}" if private and self._owner else name

    def visit_Attribute(self, node):
        self.generic_visit(node)
        node.attr = self._mangled(node.attr)
        return node

    def visit_Name(self, node):
        node.id = self._mangled(node.id)
        return node

    def visit_ClassDef(self, node):
        return node  # mangles its own


def mangle(node, function):
    """``self.__x`` of a method under the name it has in its class."""
    owner = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
    return _Mangler(owner).visit(node) if owner and owner != "<locals>" else node


# --- lists ----------------------------------------------------------------------------------------


_OWN_SCOPE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _bound_names(function):
    """The names that are local to a function, parameters included."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = {a.arg for a in (*every, arguments.vararg, arguments.kwarg) if a is not None}
    shared = set()
    stack = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(
            node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        ):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Global):
            shared.update(node.names)
        stack.extend(ast.iter_child_nodes(node))
    return names - shared


def _called_method(node):
    """(name of a variable, method) if the node is ``name.method(...)``, else None."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if not isinstance(node.func.value, ast.Name):
        return None
    return node.func.value.id, node.func.attr


class _ListMarker(ast.NodeTransformer):
    """Makes what changes a list inside a statement an assignment of its variable.

    ``l.append(x)`` becomes ``l = ag__.list_append(l, x)`` and ``l[i] = x`` becomes
    ``l = ag__.set_item(l, i, x)``: a staged statement carries the variables that it assigns.
    """

    _CHANGING = ("pop", "extend", "insert", "remove", "clear", "reverse", "sort")

    def __init__(self, function):
        self._local = _bound_names(function)
        self._lists = {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and _makes_list(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        self._depth = 0  # of the statements around

    def visit_FunctionDef(self, node):
        node.body = [mark_lists(child) for child in node.body]  # a scope of its own
        return node

    visit_Lambda = visit_ClassDef = visit_AsyncFunctionDef = lambda self, node: node

    def _visit_statement(self, node):
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1
        return node

    visit_If = visit_With = visit_Try = _visit_statement

    visit_While = _visit_statement

    def visit_For(self, node):
        call = node.iter
        if isinstance(call, ast.Call) and isinstance(call.func, (ast.Name, ast.Attribute)):
            call.func = _at(call.func, _operator("counting", [call.func]))
        return self._visit_statement(node)

    def visit_Expr(self, node):
        self.generic_visit(node)
        method = _called_method(node.value)
        if not self._depth or method is None or method[0] not in self._local:
            return node
        call = node.value
        if method[1] == "append" and len(call.args) == 1 and not call.keywords:
            if isinstance(call.args[0], ast.Starred):
                return node
            return _assigned(node, method[0], "list_append", call.args)
        return self._followed(node, method)

    def visit_Assign(self, node):
        self.generic_visit(node)
        if not self._depth:
            return node
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Subscript):
            name = target.value.id if isinstance(target.value, ast.Name) else None
            if name in self._lists and name in self._local and _chosen_at_run_time(target.slice):
                return _assigned(node, name, "set_item", [target.slice, node.value])
        return self._followed(node, _called_method(node.value))

    def _followed(self, node, method):
        """The statement, and after it an assignment of the variable to itself."""
        if method is None or method[0] not in self._local & self._lists:
            return node
        if method[1] not in self._CHANGING:
            return node
        again = ast.Assign(
            targets=[ast.Name(method[0], ast.Store())], value=ast.Name(method[0], ast.Load())
        )
        return [node, _at(node, again)]

    def visit_Subscript(self, node):
        self.generic_visit(node)
        name = node.value.id if isinstance(node.value, ast.Name) else None
        if name not in self._lists or not isinstance(node.ctx, ast.Load):
            return node
        if not _chosen_at_run_time(node.slice):
            return node
        return _at(node, _operator("get_item", [node.value, node.slice]))


def _makes_list(value):
    """Whether an expression is a list for sure."""
    if isinstance(value, (ast.List, ast.ListComp)):
        return True
    if isinstance(value, ast.BinOp):
        return _makes_list(value.left) or _makes_list(value.right)
    called = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
    return called and value.func.id == "list"


def _chosen_at_run_time(index):
    return not isinstance(index, (ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp))


def _operator(name, args):
    function = ast.Attribute(ast.Name("ag__", ast.Load()), name, ast.Load())
    return ast.Call(func=function, args=args, keywords=[])


def _assigned(node, name, operator, args):
    call = _operator(operator, [ast.Name(name, ast.Load()), *args])
    return _at(node, ast.Assign(targets=[ast.Name(name, ast.Store())], value=call))


def _at(node, made):
    """A new tree in the place of a node: every part that has no line yet gets that of the node."""
    origin = anno.getanno(node, anno.Basic.ORIGIN, default=None)
    ast.copy_location(made, node)
    ast.fix_missing_locations(made)
    for part in ast.walk(made):
        if origin is not None and not anno.hasanno(part, anno.Basic.ORIGIN):
            anno.setanno(part, anno.Basic.ORIGIN, origin)
    return made


def _appended(statement):
    """The variable that a statement appends to, and what it appends, after ``mark_lists``."""
    call = statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(call, ast.Call) and _called_method(call) == ("ag__", "list_append"):
        return call.args[0].id, call.args[1]
    return None, statement


def _count_appends(loop):
    """Notes how often each round appends to a list, where every round does it the same."""
    counts, touched = {}, set()
    for statement in loop.body:
        name, rest = _appended(statement)
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
        for node in ast.walk(rest):
            if isinstance(node, ast.Name):
                touched.add(node.id)
            elif isinstance(node, (ast.Break, ast.Continue, ast.Return)):
                return
    fixed = {name: count for name, count in counts.items() if name not in touched}
    if fixed:
        keys, values = map(ast.Constant, fixed), map(ast.Constant, fixed.values())
        options = anno.getanno(loop, _OPTIONS, default={})
        options["appends"] = ast.Dict(keys=list(keys), values=list(values))
        anno.setanno(loop, _OPTIONS, options)


def mark_lists(node):
    """Rewrites what changes lists in the function, and in functions within it."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return node
    marker = _ListMarker(node)
    body = []
    for statement in node.body:
        done = marker.visit(statement)
        body.extend(done if isinstance(done, list) else [done])
    node.body = body
    return node


def forget_operators(node):
    """Our own name is none of the user's variables."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id == "ag__":
            anno.delanno(part, anno.Static.ORIG_DEFINITIONS)


# --- assertions -----------------------------------------------------------------------------------


class _Asserts(ast.NodeTransformer):
    def visit_Assert(self, node):
        self.generic_visit(node)
        message = ast.Constant(None)
        if node.msg is not None:
            nothing = ast.arguments(
                posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]
            )
            message = ast.Lambda(args=nothing, body=node.msg)
        return _at(node, ast.Expr(_operator("assert_stmt", [node.test, message])))


def convert_asserts(node):
    return _Asserts().visit(node)


# --- set_loop_options -----------------------------------------------------------------------------


class _Directives(ast.NodeTransformer):
    """Takes ``set_loop_options(...)`` out of a loop and notes it, and appends, at the loop."""

    def __init__(self, namespace):
        self._namespace = namespace

    def _visit_loop(self, node):
        body = []
        for number, statement in enumerate(node.body):
            if self._is_directive(statement):
                if number:
                    raise ValueError(
                        '"set_loop_options" must be the first statement in the loop block'
                    )
                anno.setanno(node, _OPTIONS, _given(statement.value))
            else:
                body.append(statement)
        node.body = body or [ast.copy_location(ast.Pass(), node)]
        _count_appends(node)
        return self.generic_visit(node)

    visit_While = visit_For = _visit_loop

    def visit_Expr(self, node):
        if self._is_directive(node):
            raise ValueError('"set_loop_options" must be used inside a loop')
        return node

    def _is_directive(self, statement):
        call = getattr(statement, "value", None)
        if not isinstance(statement, ast.Expr) or not isinstance(call, ast.Call):
            return False
        if not _ends_with(call.func, "set_loop_options", self._namespace):
            return False
        return self._value(call.func) is set_loop_options

    def _value(self, node):
        """The module or function that a dotted name stands for before the function runs."""
        if isinstance(node, ast.Name):
            return self._namespace.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._value(node.value), node.attr, None)
        return None


def _ends_with(node, name, namespace):
    if isinstance(node, ast.Attribute):
        return node.attr == name
    return isinstance(node, ast.Name) and namespace.get(node.id) is set_loop_options


def _given(call):
    bound = inspect.signature(set_loop_options).bind(
        *call.args, **{keyword.arg: keyword.value for keyword in call.keywords}
    )
    return dict(bound.arguments)


def take_directives(node, context):
    return _Directives(context.info.namespace).visit(node)


# --- control flow ---------------------------------------------------------------------------------


class _ControlFlow(control_flow.ControlFlowTransformer):
    """malt's, with our options of loops, and with shared variables assigned in statements."""

    def _get_block_basic_vars(self, modified, live_in, live_out):
        found = super()._get_block_basic_vars(modified, live_in, live_out)
        return found | {name for name in modified if name in self._shared()}

    def _get_block_vars(self, node, modified):
        """What is nonlocal or global is used after every statement, whatever this function does."""
        names, undefined, outputs = super()._get_block_vars(node, modified)
        shared = self._shared()
        after = list(names[:outputs])
        after += [name for name in names[outputs:] if name in shared]
        rest = [name for name in names[outputs:] if name not in shared]
        return after + rest, undefined, len(after)

    def _shared(self):
        scope = self.state[control_flow._Function].scope
        return scope.globals | scope.nonlocals

    def _create_loop_options(self, node):
        options = anno.getanno(node, _OPTIONS, default={})
        return ast.Dict(
            keys=[ast.Constant(name) for name in options], values=list(options.values())
        )


def convert_control_flow(node, context):
    graphs = cfg.build(node)
    node = qual_names.resolve(node)
    node = activity.resolve(node, context, None)
    node = reaching_definitions.resolve(node, context, graphs)
    node = reaching_fndefs.resolve(node, context, graphs)
    node = liveness.resolve(node, context, graphs)
    return _ControlFlow(context).visit(node)
