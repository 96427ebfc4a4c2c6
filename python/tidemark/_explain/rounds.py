"""How often lines run, as far as the source tells: once, in every round, or now and then."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass, field

from tidemark._explain import source

_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_GOING_ON = (ast.Continue, ast.Return)  # after which the rest of a block is left out


def is_occasional(place):
    """Whether a place, train.py:12 in step, runs only on a condition inside of a loop or a
    function, or in a function that is called so alone."""
    file, line, _ = source.parse_place(place)
    return bool(line) and line in _lines(source.full_path(file)).occasional


def runs_once(path, line):
    """Whether a line stands outside of all loops, and of all functions but those that are called
    once."""
    return bool(line) and line in _lines(path).once


@dataclass
class _Lines:
    """Of one file."""

    occasional: set = field(default_factory=set)
    once: set = field(default_factory=set)
    functions: list = field(default_factory=list)  # nodes
    calls: dict = field(default_factory=dict)  # function's name → lines of its calls
    mentions: dict = field(default_factory=dict)  # name → how often it is read


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
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            name = source.last_name(node)
            lines.mentions[name] = lines.mentions.get(name, 0) + 1
    while _follow_calls(lines):
        pass
    return lines


def _follow_calls(lines):
    """Functions are called as often as the lines run that call them; whether that told anything
    new."""
    before = len(lines.occasional), len(lines.once)
    for function in lines.functions:
        called = lines.calls.get(function.name, ())
        inside = set(range(function.lineno, (function.end_lineno or function.lineno) + 1))
        from_elsewhere = [line for line in called if line not in inside]
        if not from_elsewhere:
            continue
        if all(line in lines.occasional for line in from_elsewhere):
            lines.occasional |= inside
        is_only_called = lines.mentions.get(function.name) == len(called) == 1
        if is_only_called and from_elsewhere[0] in lines.once:
            reading = _Reading(_Lines())
            reading.block(function.body, False, False, True)
            lines.once |= reading.lines.once
    return (len(lines.occasional), len(lines.once)) != before


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
    """`submit(x) if step % 2 else None` and `is_due and save(x)`."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, (ast.IfExp, ast.BoolOp))
