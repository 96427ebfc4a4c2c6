"""How often lines run, as far as the source tells: once, in every round, or now and then."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from dataclasses import dataclass, field

from tidemark._explain import source

_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OPS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript)  # that may run one
_GOING_ON = (ast.Continue, ast.Return)  # after which the rest of a block is left out


def is_occasional(place):
    """Whether a place, train.py:12 in step, runs only on a condition inside of a loop or a
    function, or in a function that is called so alone."""
    file, line, _ = source.parse_place(place)
    return bool(line) and line in _lines(source.full_path(file)).occasional


def runs_once(path, line):
    """Whether a line stands outside of all loops and functions."""
    return bool(line) and line in _lines(path).once


@dataclass
class _Lines:
    """Of one file."""

    occasional: set = field(default_factory=set)
    once: set = field(default_factory=set)
    lambdas: set = field(default_factory=set)
    functions: list = field(default_factory=list)  # nodes
    calls: dict = field(default_factory=dict)  # function's name → lines of its calls


@functools.lru_cache(maxsize=64)
def _lines(path):
    tree = source.tree_of(path)
    lines = _Lines()
    if tree is None:
        return lines
    _Reading(lines).block(tree.body, False, False, True)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = source.last_name(node.func)
            lines.calls.setdefault(name, []).append(node.lineno)
        if isinstance(node, ast.Lambda):
            lines.lambdas.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    while _follow_calls(lines):
        pass
    return lines


def _follow_calls(lines):
    """Functions are called as often as the lines run that call them; whether that told anything
    new."""
    before = len(lines.occasional)
    for function in lines.functions:
        called = lines.calls.get(function.name, ())
        inside = set(range(function.lineno, (function.end_lineno or function.lineno) + 1))
        from_elsewhere = [line for line in called if line not in inside]
        if not from_elsewhere:
            continue
        if all(line in lines.occasional for line in from_elsewhere):
            lines.occasional |= inside
    return len(lines.occasional) != before


class _Reading:
    """Goes through blocks of statements, and notes of each line how often it runs."""

    def __init__(self, lines):
        self.lines = lines

    def block(self, statements, in_loop, is_occasional, is_once):
        for statement in statements:
            self._note(statement, is_occasional or _is_conditional(statement), is_once)
            self._statement(statement, in_loop, is_occasional, is_once)
            is_left_out = isinstance(statement, ast.If) and not statement.orelse
            if is_left_out and isinstance(statement.body[-1], _GOING_ON) and not is_once:
                is_occasional = True

    def _note(self, statement, is_occasional, is_once):
        first, last = source.head_of(statement)
        if is_occasional:
            self.lines.occasional.update(range(first, last + 1))
        if is_once:
            self.lines.once.update(range(first, last + 1))

    def _statement(self, node, in_loop, is_occasional, is_once):
        if isinstance(node, _FUNCTIONS):
            self.lines.functions.append(node)
            is_cached = any("cache" in ast.unparse(one) for one in node.decorator_list)
            self.block(node.body, False, is_cached, False)
        elif isinstance(node, ast.ClassDef):
            self.block(node.body, False, False, is_once)
        elif isinstance(node, _LOOPS):
            # What a whole function does on a condition, its loops do in each of their rounds.
            self.block(node.body, True, is_occasional and in_loop, False)
            self.block(node.orelse, in_loop, is_occasional, is_once)
        elif isinstance(node, (ast.If, ast.Match)):
            bodies = ([node.body, node.orelse] if isinstance(node, ast.If)
                      else [case.body for case in node.cases])  # fmt: skip
            for body in bodies:
                self.block(body, in_loop, is_occasional or not is_once, is_once)
        else:
            for body in (getattr(node, name, []) for name in ("body", "orelse", "finalbody")):
                self.block(body if isinstance(body, list) else [], in_loop, is_occasional, is_once)
            for handler in getattr(node, "handlers", ()):
                self.block(handler.body, in_loop, is_occasional or not is_once, is_once)


def _is_conditional(statement):
    """`submit(x) if step % 2 else None`, `is_due and save(x)`, `y = a + b if is_sum else a - b`:
    one that runs some of its ops on a condition."""
    if hasattr(statement, "body"):
        return False
    parts = [part for node in ast.walk(statement) for part in _on_a_condition(node)]
    return any(isinstance(node, _OPS) for part in parts for node in ast.walk(part))


def _on_a_condition(node):
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    return node.values[1:] if isinstance(node, ast.BoolOp) else []


# --- the loop that a line belongs to --------------------------------------------------------------

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FEW_TRIPS, _FEWEST_STEPS = 8, 16  # of a loop in a step, of the steps then
_MOST_CALLERS = 8  # functions that call each other on the way out of a line to its loop


@dataclass(frozen=True)
class Loop:
    """A loop of the program's: where it begins, and how often it goes round each time, as far as
    that stands there; 0: not known."""

    file: str
    line: int
    column: int
    trips: int
    is_comprehension: bool = False


@functools.lru_cache(maxsize=4096)
def loops_around(path, line, depth=0, is_inside=False):
    """The loops that a line runs in, the innermost first: those around it, then those around the
    call of its function, where all its calls are in the same. ``is_inside``: also what is a loop
    within the line's own statement."""
    function, around = None, []
    for node in _enclosing(path, line, is_inside):
        if isinstance(node, _FUNCTIONS):
            function = node
            around = []
        else:
            is_inner = isinstance(node, _COMPREHENSIONS)
            around.append(Loop(path, node.lineno, node.col_offset, _trips(node), is_inner))
    around.reverse()
    if function is None or depth >= _MOST_CALLERS:
        return tuple(around)
    further = {loops_around(path, at, depth + 1, is_inside=True) for at in _callers(path, function)}
    return (*around, *(further.pop() if len(further) == 1 else ()))


def rounds_of(path, line, lines):
    """How often the loop goes round that a line belongs to; 0: not known. ``lines``: how often
    each line ran, {(file, line): times}."""
    own = loops_around(path, line)
    if not own:
        return 0
    direct, deeper = [], []
    for (file, other), times in lines.items():
        if other in _lines(file).occasional or other in _lines(file).lambdas:
            continue  # who calls a lambda, and how often, is not known
        around = loops_around(file, other, is_inside=True)
        if own[0] not in around:
            continue
        inner = around[: around.index(own[0])]
        trips = [loop.trips for loop in inner]
        if not inner:
            direct.append(times)
        elif all(trips):
            for count in trips:
                times /= count
            deeper.append(times)
    # What most lines tell: a library's function may run its ops several times for one call.
    often = Counter(direct or deeper)
    return min((times for times in often if often[times] == max(often.values())), default=0)


def steps_of(path, line, count, trips_of):
    """How many steps so many rounds of a line's loop are: a loop that goes round a few times in
    each round of the one around it is a part of that. ``trips_of``: how often one does in the
    other, as it was seen."""
    around = [loop for loop in loops_around(path, line) if not loop.is_comprehension]
    for inner, outer in zip(around, around[1:], strict=False):
        trips = inner.trips or trips_of((inner.file, inner.line), (outer.file, outer.line))
        if not 1 < trips <= _FEW_TRIPS or count < _FEWEST_STEPS * trips:
            break
        count /= trips
    return count


@functools.lru_cache(maxsize=4096)
def _enclosing(path, line, is_inside):
    """The loops and functions around a line, the outermost first; without what a statement of that
    line is the head of, and comprehensions only where they are asked for."""
    tree = source.tree_of(path)
    found = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, (*_LOOPS, *_FUNCTIONS)):
            first, last = node.body[0], node.body[-1]
        elif is_inside and isinstance(node, _COMPREHENSIONS):
            first = last = node
        else:
            continue
        if first.lineno <= line <= (last.end_lineno or last.lineno):
            found.append(node)
    # What begins earlier is further out; of equals what ends later.
    found.sort(key=lambda node: (node.lineno, node.col_offset, -(node.end_lineno or 0)))
    return tuple(found)


def _callers(path, function):
    """The lines that call a function, or make an object of its class, from elsewhere."""
    names = {function.name}
    if function.name == "__init__":
        names = {node.name for node in ast.walk(source.tree_of(path))
                 if isinstance(node, ast.ClassDef) and function in node.body}  # fmt: skip
    lines = {line for name in names for line in _lines(path).calls.get(name, ())}
    return {one for one in lines if not function.lineno <= one <= (function.end_lineno or 0)}


def _trips(loop):
    """How often a loop goes round: the length of what is written out, or of a range of a number."""
    over = loop.generators[0].iter if isinstance(loop, _COMPREHENSIONS) else None
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        over = loop.iter
    if isinstance(over, (ast.List, ast.Tuple, ast.Set)):
        return len(over.elts)
    is_range = isinstance(over, ast.Call) and source.last_name(over.func) == "range"
    bounds = [one.value for one in over.args if isinstance(one, ast.Constant)] if is_range else []
    if not bounds or len(bounds) != len(over.args):
        return 0
    return len(range(*bounds))
