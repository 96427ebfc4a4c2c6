"""Which public name a name of an internal module has: read from the checkout's own sources.

TensorFlow marks what it makes public where it is defined (``@tf_export("math.add", "add")``), so
the sources are the table. Nothing of them is run here.
"""

from __future__ import annotations

import ast
import contextlib
import functools
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Module:
    """What one source file says of its names."""

    public: dict = field(default_factory=dict)  # name → public name, "compat.v1." before v1's
    values: dict = field(default_factory=dict)  # name → the literal assigned to it
    same_as: dict = field(default_factory=dict)  # name → (module or "", name) it is another name of
    stars: list = field(default_factory=list)  # modules all of whose names it takes
    defined: set = field(default_factory=set)  # its own functions and classes


class Exports:
    """The public names in a checkout."""

    def __init__(self, checkout):
        self.root = Path(checkout)

    def path(self, module):
        """The source file or folder of ``python.ops.math_ops``; None if there is none."""
        base = self.root / "tensorflow" / Path(*module.split("."))
        file = base.with_suffix(".py")
        return file if file.exists() else base if base.is_dir() else None

    @functools.cache  # noqa: B019 - one object a process
    def module(self, name) -> Module:
        path = self.path(name)
        if path is not None and path.is_dir():
            path = path / "__init__.py"
        if path is None or not path.exists():
            return Module()
        return _read(ast.parse(path.read_text(encoding="utf-8")).body, Module())

    def find(self, module, name, seen=()):
        """("public", name), ("value", object), ("module", name), ("generated", op) or None."""
        if (module, name) in seen:
            return None
        seen = (*seen, (module, name))
        if module.rpartition(".")[2].startswith("gen_") and self.path(module) is None:
            return ("generated", name)
        facts = self.module(module)
        if name in facts.public:
            return ("public", facts.public[name])
        if name in facts.same_as:
            other, theirs = facts.same_as[name]
            if other and self.path(f"{other}.{theirs}") is not None:
                return ("module", f"{other}.{theirs}")
            found = self.find(other or module, theirs, seen)
            if found is not None:
                return found
        if name in facts.values:
            return ("value", facts.values[name])
        for star in () if name in facts.defined else facts.stars:
            found = self.find(star, name, seen)
            if found is not None:
                return found
        return None


def _read(statements, facts) -> Module:
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            facts.defined.add(node.name)
            for decorator in node.decorator_list:
                _note(facts, node.name, _exported(decorator))
                _note_dispatch(facts, node.name, decorator)
        elif isinstance(node, ast.If) and "tf2.enabled()" in ast.unparse(node.test):
            _read(node.orelse if ast.unparse(node.test).startswith("not ") else node.body, facts)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            _read_assignment(facts, node.targets[0].id, node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            _read_assignment(facts, node.target.id, node.value)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tensorflow."):
            source = node.module.removeprefix("tensorflow.")
            for alias in node.names:
                if alias.name == "*":
                    facts.stars.append(source)
                else:
                    facts.same_as[alias.asname or alias.name] = (source, alias.name)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            _read_export(facts, node.value)
    return facts


def _read_assignment(facts, name, value):
    if isinstance(value, ast.Name):
        facts.same_as[name] = ("", value.id)
        return
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        module = facts.same_as.get(value.value.id)
        if module is not None:
            facts.same_as[name] = (f"{module[0]}.{module[1]}", value.attr)
        return
    if isinstance(value, ast.Call):
        _note(facts, name, _exported(value.func))
        return
    with contextlib.suppress(ValueError):  # computed: nothing that the text alone says
        facts.values[name] = ast.literal_eval(value)


def _read_export(facts, call):
    """``tf_export("a")(a)`` and ``tf_export("float32").export_constant(__name__, "float32")``"""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "export_constant":
        if isinstance(call.args[1], ast.Constant):
            _note(facts, call.args[1].value, _exported(call.func.value))
    elif call.args and isinstance(call.args[0], ast.Name):
        _note(facts, call.args[0].id, _exported(call.func))


def _note_dispatch(facts, name, decorator):
    """``@dispatch_for_api(math_ops.add)``: what the public ``math_ops.add`` does by itself."""
    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("dispatch_for_api"):
        _read_assignment(facts, name, decorator.args[0])


def _note(facts, name, public):
    if public:
        facts.public.setdefault(name, public)


def _exported(call):
    """The public name that a call of ``tf_export`` gives; None if it is none or gives none."""
    if not isinstance(call, ast.Call):
        return None
    function = call.func
    if (getattr(function, "id", None) or getattr(function, "attr", None)) != "tf_export":
        return None
    names = [a.value for a in call.args if isinstance(a, ast.Constant)]
    names = [n for n in names if not n.startswith("__internal__")] or names
    if names:
        return names[0]
    for keyword in call.keywords:
        if keyword.arg == "v1" and isinstance(keyword.value, (ast.List, ast.Tuple)):
            olds = [e.value for e in keyword.value.elts if isinstance(e, ast.Constant)]
            return f"compat.v1.{olds[0]}" if olds else None
    return None
