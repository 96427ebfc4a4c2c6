"""``if``, ``while`` and ``for`` as calls, in functions where nothing jumps.

A block ends where its last statement does: no break, continue, return or raise inside, no function
within. Which variables a statement carries follows then from one walk backwards over the tree.
"""

from __future__ import annotations

import ast

STATEMENTS = (ast.If, ast.While, ast.For)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def staged(node, body):
    """The statements of the function ``node``, whose expressions are converted already."""
    parameters = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
    builder = _Builder(node, body)
    made = builder.block(body, frozenset(), parameters)
    reader = _Reader(builder.undefined, builder.getters)
    return [part for statement in made for part in _as_list(reader.visit(statement))]


def _as_list(made):
    return made if isinstance(made, list) else [made]


# --- what statements read and assign --------------------------------------------------------------


def _reads(node):
    """The variables that an expression reads; those of comprehensions are their own."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    found = set()
    for child in ast.iter_child_nodes(node):
        found |= _reads(child)
    if isinstance(node, _COMPREHENSIONS):
        found -= _stores(*(generator.target for generator in node.generators))
        found |= _reads(node.generators[0].iter)  # which stands outside
    return found


def _stores(*targets):
    return {
        part.id
        for target in targets
        for part in ast.walk(target)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


def _assigned(statements):
    """The variables that statements assign, in whatever block."""
    found = set()
    for statement in statements:
        if isinstance(statement, ast.Assign):
            found |= _stores(*statement.targets)
        elif isinstance(statement, (ast.AugAssign, ast.For)):
            found |= _stores(statement.target)
        elif isinstance(statement, ast.With):
            found |= _stores(*(i.optional_vars for i in statement.items if i.optional_vars))
        for block in ("body", "orelse"):
            if isinstance(statement, (*STATEMENTS, ast.With)):
                found |= _assigned(getattr(statement, block, ()))
    return found


def _live_before(statements, after):
    """The variables whose values matter before statements, given those that matter after."""
    live = after
    for statement in reversed(statements):
        live = _live_before_one(statement, live)
    return live


def _live_before_one(statement, after):
    if isinstance(statement, ast.If):
        either = _live_before(statement.body, after) | _live_before(statement.orelse, after)
        return either | _reads(statement.test)
    if isinstance(statement, (ast.For, ast.While)):
        return _live_before_loop(statement, after)
    if isinstance(statement, ast.With):
        live = _live_before(statement.body, after)
        for item in reversed(statement.items):
            target = item.optional_vars
            live = live - _stores(target) | _reads(target) if target else live
            live = live | _reads(item.context_expr)
        return live
    read = _reads(statement)
    if isinstance(statement, ast.AugAssign):
        return after | read | _stores(statement.target)
    if isinstance(statement, ast.Assign):
        return (after - _stores(*statement.targets)) | read
    return after | read


def _live_before_loop(loop, after):
    counts = isinstance(loop, ast.For)
    read = _reads(loop.iter if counts else loop.test)
    targets = _stores(loop.target) if counts else set()
    live = (after - targets) | read
    while True:  # a round may follow a round
        again = ((_live_before(loop.body, live) | after) - targets) | read
        if again == live:
            return live
        live = again


# --- what is made of them -------------------------------------------------------------------------


class _Builder:
    """Makes blocks into functions, which share the variables that a staged statement carries."""

    def __init__(self, function, body):
        nodes = [part for statement in (function, *body) for part in ast.walk(statement)]
        self._taken = {part.id for part in nodes if isinstance(part, ast.Name)}
        self._taken |= {part.arg for part in nodes if isinstance(part, ast.arg)}
        self.undefined = set()  # variables that may hold the sign for "not assigned yet"
        self.getters = set()  # functions that read such variables as they are

    def block(self, statements, after, defined):
        """What is made of statements, of which ``defined`` may have values before them."""
        if not statements:
            return []
        ends = [after]  # what is alive after each of them, the last first
        for statement in reversed(statements[1:]):
            ends.append(_live_before_one(statement, ends[-1]))
        made = []
        for statement, live in zip(statements, reversed(ends), strict=True):
            assigned = _assigned([statement])  # before blocks become functions
            made += self._statement(statement, live, defined)
            defined = defined | assigned
        return made

    def _statement(self, node, after, defined):
        if isinstance(node, ast.With):
            inside = defined | _assigned([ast.With(items=node.items, body=[])])
            node.body = self.block(node.body, after, inside)
            return [node]
        if not isinstance(node, STATEMENTS):
            return [node]
        before = _live_before_one(node, after)
        assigned = _assigned([node])
        carried = assigned & (before | after)
        read_only = carried & (before - after)
        names = sorted(carried, key=lambda name: (name in read_only, name))
        undefined = sorted(assigned - defined)
        self.undefined.update(undefined)
        outputs = len(names) - len(read_only)
        if isinstance(node, ast.If):
            call, parts = self._if(node, after, defined, names, outputs)
        else:
            call, parts = self._loop(node, before, after, defined, names)
        signs = [_assign(name, _operator("Undefined", ast.Constant(name))) for name in undefined]
        return [_placed(part, node.lineno) for part in (*parts, *signs, ast.Expr(call))]

    def _if(self, node, after, defined, names, outputs):
        body = self.block(node.body, after, defined)
        orelse = self.block(node.orelse, after, defined)
        getter, setter = self._state(names)
        shared = _shared(names)
        then = _function(self._name("if_body"), [], [*shared, *body])
        otherwise = _function(self._name("else_body"), [], [*shared, *(orelse or [ast.Pass()])])
        arguments = [node.test, *map(_name_of, (then, otherwise, getter, setter)), _texts(names)]
        call = _operator("if_stmt", *arguments, ast.Constant(outputs))
        return call, [getter, setter, then, otherwise]

    def _loop(self, node, before, after, defined, names):
        # A round is followed by another or by what comes after the loop.
        body = self.block(node.body, before, defined | _assigned([node]))
        getter, setter = self._state(names)
        shared = _shared(names)
        if isinstance(node, ast.While):
            round_ = _function(self._name("loop_body"), [], [*shared, *body])
            test = _function(self._name("loop_test"), [], [ast.Return(node.test)])
            arguments = map(_name_of, (test, round_, getter, setter))
            call = _operator("while_stmt", *arguments, _texts(names), ast.Dict([], []))
            return call, [getter, setter, round_, test]
        element = self._name("itr")
        taken = _placed(ast.Assign([node.target], ast.Name(element, ast.Load())), node.lineno)
        round_ = _function(self._name("loop_body"), [element], [*shared, taken, *body])
        options = ast.Dict(
            [ast.Constant("iterate_names")], [ast.Constant(ast.unparse(node.target))]
        )
        arguments = [ast.Constant(None), *map(_name_of, (round_, getter, setter))]
        call = _operator("for_stmt", node.iter, *arguments, _texts(names), options)
        return call, [getter, setter, round_]

    def _state(self, names):
        """The functions that read and write the variables of a statement."""
        values = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
        getter = _function(self._name("get_state"), [], [ast.Return(values)])
        self.getters.add(getter)
        given, setting = self._name("vars_"), [ast.Pass()]
        if names:
            targets = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
            setting = [*_shared(names), ast.Assign([targets], ast.Name(given, ast.Load()))]
        return getter, _function(self._name("set_state"), [given], setting)

    def _name(self, wanted):
        name, number = wanted, 0
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name


class _Reader(ast.NodeTransformer):
    """Reading a variable that may hold the sign for "not assigned" raises Python's error."""

    def __init__(self, names, untouched):
        self._names = names
        self._untouched = untouched

    def visit_FunctionDef(self, node):
        return node if node in self._untouched else self.generic_visit(node)

    def visit_Name(self, node):
        if node.id not in self._names or not isinstance(node.ctx, ast.Load):
            return node
        return _placed(_operator("ld", node), node.lineno)

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name) or node.target.id not in self._names:
            return node
        name = node.target.id
        checked = _assign(name, _operator("ld", ast.Name(name, ast.Load())))
        return [_placed(checked, node.lineno), node]


def _operator(name, *arguments):
    called = ast.Attribute(ast.Name("ag__", ast.Load()), name, ast.Load())
    return ast.Call(called, list(arguments), [])


def _assign(name, value):
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _shared(names):
    return [ast.Nonlocal(sorted(names))] if names else []


def _texts(names):
    return ast.Tuple([ast.Constant(name) for name in names], ast.Load())


def _name_of(function):
    return ast.Name(function.name, ast.Load())


def _function(name, parameters, body):
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg(arg=p) for p in parameters], kwonlyargs=[], kw_defaults=[],
        defaults=[],
    )  # fmt: skip
    return ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[], type_params=[])


def _placed(made, line):
    """New nodes stand on the line of what they were made from, in no part of it."""
    for part in ast.walk(made):
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            part.lineno = part.end_lineno = line
            part.col_offset = part.end_col_offset = -1
    return made
