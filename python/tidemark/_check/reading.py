"""A source file as the checks see it: its tree, what stands in which loop and function, and what
its names mean as far as that can be read."""

from __future__ import annotations

import ast
import io
import re
import tokenize

_LIBRARIES = ("tensorflow", "tidemark")
_IGNORE = re.compile(r"#\s*tidemark:\s*ignore(?:\[([\w\-, ]*)\])?")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.While, ast.AsyncFor)
# What a training loop does: others are short, or gather on purpose.
_TRAINS = ("apply_gradients", "GradientTape", "train_on_batch", "train_step", "minimize", "run")


class Program:
    """One file."""

    def __init__(self, path, text):
        self.path = path
        self.tree = ast.parse(text)
        self.ignored = _ignored(text)
        self._parents = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }
        self.names, self._given = self._imports()
        self.nodes = list(ast.walk(self.tree))
        self.traced = [n for n in self.of(ast.FunctionDef) if self.is_traced(n)]

    def of(self, *kinds):
        """The nodes of some kinds, in the order of their lines."""
        found = [node for node in self.nodes if isinstance(node, kinds)]
        return sorted(found, key=lambda node: (node.lineno, node.col_offset))

    def _imports(self):
        """Names under which the library is known, and names of it that were imported."""
        whole, given = set(), {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] in _LIBRARIES:
                        whole.add(alias.asname or alias.name.split(".")[0])
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in (
                _LIBRARIES
            ):
                for alias in node.names:
                    given[alias.asname or alias.name] = alias.name
        return whole, given

    @property
    def uses_the_library(self):
        return bool(self.names or self._given)

    @property
    def uses_torch(self):
        imports = [a.name for n in self.of(ast.Import) for a in n.names]
        imports += [n.module or "" for n in self.of(ast.ImportFrom)]
        return any(name.split(".")[0] == "torch" for name in imports)

    def name_of(self, node):
        """reduce_mean, data.Dataset.range, …: what of the library an expression names; ""."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        if node.id in self.names:
            full = ".".join(reversed(parts))
            return full.removeprefix("compat.v1.").removeprefix("compat.v2.")
        return ".".join([self._given[node.id], *reversed(parts)]) if node.id in self._given else ""

    def called(self, node):
        """What of the library a call calls; "" of anything else."""
        return self.name_of(node.func) if isinstance(node, ast.Call) else ""

    def is_traced(self, function):
        return any(
            self.name_of(d.func if isinstance(d, ast.Call) else d) == "function"
            for d in function.decorator_list
        )

    def parent(self, node):
        return self._parents.get(node)

    def around(self, node):
        """What a node stands in, innermost first."""
        while (node := self._parents.get(node)) is not None:
            yield node

    def loops(self, node):
        """The loops of its own function that a node is run in again and again."""
        found, below = [], node
        for outer in self.around(node):
            if isinstance(outer, (*_FUNCTIONS, ast.ClassDef)):
                break
            if isinstance(outer, LOOPS) and below in (*outer.body, *outer.orelse):
                found.append(outer)
            below = outer
        return found

    def function(self, node):
        """The function that a node stands in; None: the module."""
        return next((n for n in self.around(node) if isinstance(n, _FUNCTIONS)), None)

    def names_bound_in(self, node):
        """Names that are given a value in a part of the program."""
        return {
            n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }

    def names_used_in(self, node):
        return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}

    def trains(self, loop):
        """Whether a loop runs steps of a training."""
        for node in ast.walk(loop):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else (
                    getattr(node.func, "id", ""))  # fmt: skip
                if name in _TRAINS:
                    return True
        return False

    def assigned(self, name, within):
        """The statements of a part of the program that give a name a value."""
        found = []
        for node in ast.walk(within):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(ast.unparse(t) == name for t in targets):
                    found.append(node)
        return found


def _ignored(text):
    """{line: rules that are not told there, or None for all}."""
    found = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and (match := _IGNORE.search(token.string)):
                rules = match[1]
                found[token.start[0]] = (
                    None if rules is None else {r.strip() for r in rules.split(",")}
                )
    except tokenize.TokenError:
        pass
    return found
