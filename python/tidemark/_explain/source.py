"""Lines of the user's program: what stands at a place, and where a name is added to."""

from __future__ import annotations

import ast
import functools
import linecache
import re
import sys

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?: in (?P<function>.+))?")


def parse_place(place):
    """("train.py", 12, "step") of "train.py:12 in step"; (place, 0, "") of anything else."""
    match = _PLACE.fullmatch(place or "")
    if match is None:
        return place or "", 0, ""
    return match["file"], int(match["line"]), match["function"] or ""


@functools.lru_cache(maxsize=1024)
def full_path(file):
    """The path of a file of which places tell the last part only."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    for path in [main, *(getattr(m, "__file__", None) for m in list(sys.modules.values()))]:
        if path and path.rsplit("/", 1)[-1] == file:
            return path
    return file


def line_text(place):
    """The source line of a place, stripped; "" when it cannot be read."""
    file, line, _ = parse_place(place)
    return linecache.getline(full_path(file), line).strip() if line else ""


@functools.lru_cache(maxsize=64)
def tree_of(path):
    """The syntax tree of a file; None where it is no Python."""
    try:
        return ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return None


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_GROWING = ("append", "extend", "add", "update", "insert", "appendleft", "setdefault", "put")
_COMPILING = ("function", "jit", "pmap", "compile")
# Functions that add to what they are given first: heapq's and bisect's.
_ADDING = ("heappush", "heappushpop", "insort", "insort_left", "insort_right", "setattr")


def last_name(node):
    """`append` of `self.results.append`; None."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def _container_name(node):
    """Of what something is added to: `by_label` of `by_label[i].append(x)` and of
    `by_label.get(i).append(x)`."""
    while True:
        is_dict_of = isinstance(node, ast.Attribute) and node.attr == "__dict__"
        if isinstance(node, ast.Subscript) or is_dict_of:
            node = node.value
        elif isinstance(node, ast.Call) and last_name(node.func) == "vars" and node.args:
            node = node.args[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            return last_name(node)


def _adds_to(node, name):
    if isinstance(node, ast.Call) and node.args and last_name(node.func) in _ADDING:
        return _container_name(node.args[0]) == name
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _GROWING and _container_name(node.func.value) == name
    if isinstance(node, ast.AugAssign):
        return _container_name(node.target) == name
    if isinstance(
        node, ast.keyword
    ):  # a record is made anew: state._replace(past=(*state.past, x))
        return node.arg == name and _is_made_of(node.value, name)
    if isinstance(node, ast.Assign):
        targets = [t for t in node.targets if isinstance(t, ast.Subscript)]
        if any(_container_name(t) == name for t in targets):
            return True
        return _assigns(node, name) and _is_made_of(node.value, name)
    return False


def _is_made_of(value, name):
    """`history + (x,)`, `[*history, x]` or `history.with_one(x)`: the name's old value with
    something more."""
    kinds = (ast.BinOp, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.Call)
    if not isinstance(value, kinds):
        return False
    return any(last_name(part) == name for part in ast.walk(value))


def _assigns(node, name):
    targets = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        targets = [node.target]
    targets = [part for t in targets for part in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return any(last_name(t) == name for t in targets)


def _value_of(node, name):
    """What an assignment gives to a name: `None` to b of `self.a, self.b = x, None`."""
    for target in node.targets if isinstance(node, ast.Assign) else ():
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            for part, value in zip(target.elts, node.value.elts, strict=False):
                if last_name(part) == name:
                    return value
    return node.value


def _may_add_to(node, name):
    """A method that is given something: `stack.callback(f, x)`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and bool(node.args)
        and _container_name(node.func.value) == name
    )


def _is_given(node, name):
    """A call of the thing itself: `report(step, x)`."""
    return isinstance(node, ast.Call) and bool(node.args) and last_name(node.func) == name


@functools.lru_cache(maxsize=1024)
def line_for_name(path, name, first=1, last=1 << 30):
    """Where something is added to what has this name, or where it is assigned; 0: nowhere.

    Of assignments the first that is made again and again, in a loop or a function, of more than a
    constant."""
    tree = tree_of(path)
    if tree is None or not name:
        return 0
    nodes = [n for n in ast.walk(tree) if first <= getattr(n, "lineno", 0) <= last]
    adding = [n.lineno for n in nodes if _adds_to(n, name)]
    if not adding:
        adding = [line for call in nodes for line in _added_by_call(tree, call, name)]
    if adding:
        return min(adding)
    assigning = [n for n in nodes if _assigns(n, name)]
    if first == 1:  # of a module: a function's own variable of that name is another one
        inside = _lines_of_functions(path)
        assigning = [n for n in assigning if n.lineno not in inside] or assigning
    looped, called = _lines_of_loops(path), _lines_of_functions(path)
    new = [n for n in assigning if not isinstance(_value_of(n, name), ast.Constant)]
    again = [n for n in new if n.lineno in looped] or [n for n in new if n.lineno in called]
    return min((n.lineno for n in again or assigning), default=0)


@functools.lru_cache(maxsize=1024)
def line_of_attribute(path, name):
    """Where an attribute is added to that the program assigns, or where it does; 0: nowhere."""
    tree = tree_of(path)
    nodes = ast.walk(tree) if tree is not None else ()
    targets = [t for n in nodes if isinstance(n, ast.Assign) for t in n.targets]
    is_assigned = any(isinstance(t, ast.Attribute) and t.attr == name for t in targets)
    return line_for_name(path, name) if is_assigned else 0


def line_of_giving(path, name):
    """Where an object of this name, that is no container, is given something: 0: nowhere."""
    tree = tree_of(path)
    nodes = list(ast.walk(tree)) if tree is not None else []
    for is_such in (_adds_to, _may_add_to, _is_given):
        lines = [n.lineno for n in nodes if is_such(n, name)]
        again = [
            line for line in lines if line in _lines_of_loops(path) | _lines_of_functions(path)
        ]
        if lines:
            return min(again or lines)
    return 0


def line_of_call(path, names):
    """Where a function or a class of one of these names is called; 0: nowhere."""
    tree = tree_of(path)
    nodes = ast.walk(tree) if tree is not None else ()
    calls = (n for n in nodes if isinstance(n, ast.Call))
    return min((n.lineno for n in calls if last_name(n.func) in names), default=0)


def line_of_compiling(path, definition, name):
    """Where a function is given to ``tf.function`` or ``jax.jit`` again and again; its definition,
    where that is in the loop itself or no such line is known."""
    tree = tree_of(path)
    if tree is None or definition in _lines_of_loops(path):
        return definition
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args
             and last_name(n.func) in _COMPILING
             and any(last_name(part) == name for a in n.args for part in ast.walk(a))]  # fmt: skip
    again = _lines_of_loops(path) | _lines_of_functions(path)
    return min((n.lineno for n in calls if n.lineno in again), default=definition)


def lines_of_making(path, kind, attribute):
    """Where objects of a class are made with something for an attribute that is theirs from the
    beginning, other than a constant: `Node(state, parent)`."""
    tree = tree_of(path)
    nodes = list(ast.walk(tree)) if tree is not None else []
    for node in nodes:
        if isinstance(node, ast.ClassDef) and node.name == kind:
            parameters = _parameters(node)
            at = _parameter_of(node, attribute)
            calls = [n for n in nodes if isinstance(n, ast.Call) and last_name(n.func) == kind]
            given = [(call, _argument(call, parameters, at)) for call in calls]
            return sorted(call.lineno for call, value in given
                          if value is not None and not isinstance(value, ast.Constant))  # fmt: skip
    return []


def _initialiser(kind):
    return next((n for n in kind.body if isinstance(n, _FUNCTIONS) and n.name == "__init__"), None)


def _parameters(kind):
    """What making an object of a class takes, by position: of `__init__`, or fields."""
    function = _initialiser(kind)
    if function is not None:
        return [one.arg for one in function.args.args[1:]]
    return [n.target.id for n in kind.body
            if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]  # fmt: skip


def _parameter_of(kind, attribute):
    """By which of them an attribute is given; "": by none."""
    function = _initialiser(kind)
    if function is None:
        return attribute
    for node in ast.walk(function):
        if _assigns(node, attribute):
            value = _value_of(node, attribute)
            return value.id if isinstance(value, ast.Name) else ""
    return ""


def _argument(call, parameters, name):
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    at = parameters.index(name) if name in parameters else len(call.args)
    return call.args[at] if at < len(call.args) else None


def lines_adding(path, name):
    """All lines that add to what has this name, or to a part of it that has another:
    `part = tree.setdefault(i, [])`."""
    tree = tree_of(path)
    nodes = list(ast.walk(tree)) if tree is not None else []
    parts = {
        target.id
        for n in nodes
        if isinstance(n, ast.Assign)
        and isinstance(n.value, (ast.Subscript, ast.Call))
        and _container_name(n.value) == name
        for target in n.targets
        if isinstance(target, ast.Name)
    }
    return sorted({n.lineno for n in nodes for one in (name, *parts) if _adds_to(n, one)})


def line_of_cache(path, function, definition):
    """Where a function without a decorator is given a cache: `lru_cache(maxsize=None)(self.make)`;
    its definition, where it has one or no such line is known."""
    tree = tree_of(path)
    for node in ast.walk(tree) if tree is not None else ():
        decorators = node.decorator_list if isinstance(node, _FUNCTIONS) else []
        lines = [node.lineno, *(d.lineno for d in decorators)] if decorators else []
        if definition in lines and any("cache" in ast.unparse(d) for d in decorators):
            return definition
        is_call = isinstance(node, ast.Call) and "cache" in ast.unparse(node.func)
        if is_call and any(last_name(a) == function for a in node.args):
            return node.lineno
    return definition


def line_storing(path, made, lines):
    """Of lines that store, the one that stores what a line makes: that line itself, or the first
    that stores as it is, or else mentions, a variable which it assigns; 0: none does."""
    first, last = statement_range(path, made)
    if same := [line for line in lines if first <= line <= last]:
        return same[0]
    names, stored, mentioned = names_made(path, made), [], []
    for line in lines:
        as_it_is, anyhow = names_added(path, line)
        if names & as_it_is:
            stored.append(line)
        elif names & anyhow:
            mentioned.append(line)
    return next(iter([*stored, *mentioned]), 0)


def names_made(path, line):
    """The variables that a line assigns."""
    return {
        target.id
        for n in _statements(path)
        if isinstance(n, ast.Assign) and n.lineno <= line <= n.end_lineno
        for target in n.targets
        if isinstance(target, ast.Name)
    }


def names_added(path, line):
    """(the variables that a line stores as they are, all that it mentions)."""
    found = [n for n in _statements(path) if n.lineno == line]
    values = [n.value for n in found if isinstance(n, (ast.Assign, ast.AugAssign))]
    for n in found:
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call):
            values += n.value.args
    return _names_in(part for v in values for part in _parts(v)), _names_in(found)


def _parts(value):
    """The items of a tuple or a list that is written out, or the value itself."""
    if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        return [part for one in value.elts for part in _parts(one)]
    return [value] if isinstance(value, ast.Name) else []


def _statements(path):
    tree = tree_of(path)
    return [n for n in ast.walk(tree) if isinstance(n, ast.stmt)] if tree is not None else []


def line_of_handing_over(path, made):
    """(line, "atexit.register"): the one call for its effect alone that is handed what a line
    makes, in the same function; (0, ""): there is none, or more than one."""
    names, scopes = names_made(path, made), [(1, 1 << 30)]
    for n in _statements(path):
        if isinstance(n, _FUNCTIONS) and n.lineno <= made <= n.end_lineno:
            scopes.append((n.lineno, n.end_lineno))
    first, last = min(scopes, key=lambda lines: lines[1] - lines[0])  # the innermost
    found = [
        n.value
        for n in _statements(path)
        if isinstance(n, ast.Expr)
        and isinstance(n.value, ast.Call)
        and first <= n.lineno <= last
        and last_name(n.value.func) != "print"
        and names & _names_in([*n.value.args, *n.value.keywords])
    ]
    return (found[0].lineno, ast.unparse(found[0].func)) if len(found) == 1 else (0, "")


def _names_in(nodes):
    return {part.id for n in nodes for part in ast.walk(n) if isinstance(part, ast.Name)}


def _added_by_call(tree, call, name):
    """Lines of a function of the program's that add to the argument it gets what has this name
    for."""
    if not isinstance(call, ast.Call):
        return []
    at = next((i for i, a in enumerate(call.args) if _container_name(a) == name), None)
    called = last_name(call.func)
    if at is None or called is None:
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == called:
            arguments = node.args.args[isinstance(call.func, ast.Attribute) :]
            if at < len(arguments):
                inner = arguments[at].arg
                return [n.lineno for n in ast.walk(node) if _adds_to(n, inner)]
    return []


@functools.lru_cache(maxsize=64)
def _lines_of_loops(path):
    return _lines_inside(path, (ast.For, ast.While, ast.AsyncFor))


@functools.lru_cache(maxsize=64)
def _lines_of_functions(path):
    return _lines_inside(path, _FUNCTIONS)


def _lines_inside(path, kinds):
    lines = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, kinds):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(lines)


def head_of(statement):
    """The first and the last line of a statement; of one with a block, of its head."""
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body:
        last = max(first, body[0].lineno - 1)
    return first, last


@functools.lru_cache(maxsize=1024)
def statement_range(path, line):
    """The first and the last line of the statement a line belongs to; of one with a block, of its
    head."""
    tree = tree_of(path)
    found = (line, line)
    if tree is None:
        return found
    smallest = 1 << 30
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        first, last = head_of(node)
        if first <= line <= last and last - first < smallest:
            smallest, found = last - first, (first, last)
    return found


def statement_at(place, lines):
    """Where the statement is that a place belongs to, if one of the running lines is in it too."""
    file, line, function = parse_place(place)
    if not line:
        return None
    for path, now, name in lines:
        if path.rsplit("/", 1)[-1] != file or (function or "<module>") != name:
            continue
        first, last = statement_range(path, now)
        if first <= line <= last:
            return f"{file}:{now}" + (f" in {function}" if function else "")
    return None


@functools.lru_cache(maxsize=1024)
def class_line(kind, file):
    """Where a class is defined; 0: not known."""
    tree = tree_of(file) if file else None
    nodes = ast.walk(tree) if tree else ()
    return next((n.lineno for n in nodes if isinstance(n, ast.ClassDef) and n.name == kind), 0)


def code_range(code):
    """The first and the last line of a code object."""
    lines = [line for *_, line in code.co_lines() if line]
    return code.co_firstlineno, max(lines, default=code.co_firstlineno)


def bytes_text(count):
    """ "1.5 MiB"."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(size) < 1024 or unit == "TiB":
            break
        size /= 1024
    if unit == "B":
        return f"{int(count)} B"
    return f"{size:.0f} {unit}" if abs(size) >= 100 else f"{size:.3g} {unit}"
