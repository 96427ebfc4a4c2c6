"""``for … else`` and ``while … else`` in the words of statements without.

The else part runs unless a break ended the loop::

    for x in xs:                    ended = True
        if found(x):                for x in xs:
            break                       if found(x):
    else:                                   ended = False
        nothing()                           break
                                    if ended:
                                        nothing()
"""

from __future__ import annotations

import ast

from malt.pyct import anno

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)


def move_else(node):
    """The function without else parts of loops."""
    if not any(isinstance(part, _LOOPS) and part.orelse for part in ast.walk(node)):
        return node
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return _Mover(names).visit(node)


class _Mover(ast.NodeTransformer):
    def __init__(self, names):
        self._names = names

    def _visit_loop(self, node):
        self.generic_visit(node)  # inner loops first: a break in their else part is this one's
        if not node.orelse:
            return node
        otherwise, node.orelse = node.orelse, []
        flag = self._unused()
        broken = _Breaks(flag)
        node.body = broken.visit_all(node.body)
        if not broken.count:
            return [node, *otherwise]
        start = _assigned(node, flag, True)
        end = ast.If(test=ast.Name(flag, ast.Load()), body=otherwise, orelse=[])
        return [start, node, _placed(end, otherwise[0])]

    visit_For = visit_While = _visit_loop

    def _unused(self):
        name = "loop_ended"
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name


class _Breaks(ast.NodeTransformer):
    """Notes in a variable that the loop is left by a break."""

    def __init__(self, flag):
        self._flag, self.count = flag, 0

    def visit_all(self, body):
        out = []
        for statement in body:
            done = self.visit(statement)
            out.extend(done if isinstance(done, list) else [done])
        return out

    def generic_visit(self, node):
        return node if isinstance(node, (*_LOOPS, *_SCOPES)) else super().generic_visit(node)

    def visit_Break(self, node):
        self.count += 1
        return [_assigned(node, self._flag, False), node]


def _assigned(place, name, value):
    made = ast.Assign(targets=[ast.Name(name, ast.Store())], value=ast.Constant(value))
    return _placed(made, place)


def _placed(made, place):
    """The tree on the line of a node; parts that have a line keep it."""
    origin = anno.getanno(place, anno.Basic.ORIGIN, default=None)
    ast.copy_location(made, place)
    ast.fix_missing_locations(made)
    for part in ast.walk(made):
        if origin is not None and not anno.hasanno(part, anno.Basic.ORIGIN):
            anno.setanno(part, anno.Basic.ORIGIN, origin)
    return made
