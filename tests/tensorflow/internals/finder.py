"""Importing ``internals.python.…``: a module of public names, or a test helper run from source."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import re
import sys
import types
from pathlib import Path

import tensorflow as tf

OWN = Path(__file__).resolve().parent / "own"
PREFIX = "internals."

# Parts of TensorFlow that only its tests use: they run as they stand in the checkout.
HELPERS = re.compile(
    r"python\.(framework\.(test_)?combinations"
    r"|data\.kernel_tests\.\w+_base"
    r"|data\.experimental\.kernel_tests\.\w+_base"
    r"|kernel_tests\.random\.util"
    r"|ops\.linalg\.linear_operator_test_util"
    r"|ops\.parallel_for\.test_util"
    r"|ops\.ragged\.ragged_test_util"
    r"|autograph\.(tests\.reference_test_base|core\.converter_testing|utils\.testing)"
    r"|\w+(\.\w+)*_test)$"
)

# Where the public names of generated ops are looked for before ``tf.raw_ops``.
PLACES = {
    "gen_array_ops": ("",),
    "gen_bitwise_ops": ("bitwise",),
    "gen_image_ops": ("image",),
    "gen_linalg_ops": ("linalg",),
    "gen_math_ops": ("math", ""),
    "gen_nn_ops": ("nn",),
    "gen_parsing_ops": ("io",),
    "gen_random_ops": ("random",),
    "gen_sparse_ops": ("sparse",),
    "gen_string_ops": ("strings",),
}


class NeedsPrivateNameError(AttributeError):
    """The test needs something that TensorFlow does not make public."""


class Missing:
    """Stands for a name that is not there.

    While a file is loaded anything may be done with it, so that one missing name in a decorator
    or a list of parameters costs the tests that use it and no others; afterwards any use fails.
    """

    loading = False

    def __init__(self, name):
        self._name = name

    def _use(self, *_, **__):
        if Missing.loading:
            return self
        raise NeedsPrivateNameError(f"there is no {self._name}")

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._use()

    __call__ = __enter__ = __getitem__ = _use

    def __exit__(self, *error):
        self._use()

    def __iter__(self):
        return iter((self._use(),))

    def __mro_entries__(self, bases):
        return ()


class Names(types.ModuleType):
    """A module of TensorFlow's, made of public names on first use."""

    def __init__(self, name, exports):
        super().__init__(PREFIX + name)
        self.__path__ = []
        self._internal, self._exports = name, exports

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            value = self._look_up(name)
        except AttributeError as error:
            if Missing.loading:
                return Missing(f"{self._internal}.{name} ({error})")
            raise
        setattr(self, name, value)
        return value

    def _look_up(self, name):
        kind, found = self._exports.find(self._internal, name) or (None, None)
        if kind == "public":
            return public(found)
        if kind == "value":
            return found
        if kind == "module":
            return importlib.import_module(PREFIX + found)
        if kind == "generated":
            return generated(self._internal.rpartition(".")[2], found)
        inner = f"{self._internal}.{name}"
        if self._exports.path(inner) is not None or name.startswith("gen_"):
            return importlib.import_module(PREFIX + inner)
        raise NeedsPrivateNameError(f"there is no public name for {inner}")


def public(name):
    """What ``tf.<name>`` is; an AttributeError that names the whole if it is not there."""
    try:
        return functools.reduce(getattr, name.split("."), tf)
    except AttributeError as error:
        raise AttributeError(f"there is no tf.{name} ({error})") from None


def generated(module, name):
    """An op of a generated module: its public name, or the raw op called with positions, too."""
    for place in PLACES.get(module, ()):
        holder = functools.reduce(getattr, filter(None, place.split(".")), tf)
        if callable(getattr(holder, name, None)):
            return getattr(holder, name)
    camel = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    op = getattr(tf.raw_ops, camel, None)
    if op is None:
        raise AttributeError(f"there is no tf.raw_ops.{camel}")

    @functools.wraps(op)
    def call(*args, **kwargs):
        names = list(inspect.signature(op).parameters)
        return op(**dict(zip(names, args, strict=False)), **kwargs)

    return call


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, exports):
        self.exports = exports

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith((PREFIX + "python", PREFIX + "core", PREFIX + "compiler")):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        name = spec.name.removeprefix(PREFIX)
        if name.startswith("core"):
            return messages(name)
        module = Names(name, self.exports)
        if HELPERS.match(name):
            module.__file__ = str(self.exports.path(name))
        return module

    def exec_module(self, module):
        name = module.__spec__.name.removeprefix(PREFIX)
        if name.startswith("core"):
            return
        own = OWN / f"{name.removeprefix('python.').replace('.', '_')}.py"
        if own.exists():
            exec(compile(own.read_text(), str(own), "exec"), module.__dict__)
        elif HELPERS.match(name):
            run_source(module.__file__, module)


def messages(name):
    """A module of TensorFlow's protocol buffers, or one that has none of its names."""
    try:
        return importlib.import_module(f"tensorflow.{name}")
    except ImportError:
        module = types.ModuleType(PREFIX + name)
        module.__path__ = []
        module.__getattr__ = lambda attribute: Missing(f"tensorflow.{name}.{attribute}")
        return module


class _Imports(ast.NodeTransformer):
    """Imports of ``tensorflow.python`` and ``tensorflow.core`` become imports of this package."""

    def visit_ImportFrom(self, node):
        if (node.module or "").startswith(("tensorflow.python", "tensorflow.core")):
            node.module = PREFIX + node.module.removeprefix("tensorflow.")
            return [self._one(node, alias) for alias in node.names]
        return node

    def visit_Import(self, node):
        """Modules imported for what they register alone (gradients) have nothing to give."""
        node.names = [a for a in node.names if not a.name.startswith("tensorflow.python")]
        return node if node.names else ast.copy_location(ast.Pass(), node)

    def _one(self, node, alias):
        """``from m import n`` by `taken`, which leaves a `Missing` where there is no ``n``."""
        finder = "__import__('internals.finder').finder"
        value = f"{finder}.taken({node.module!r}, {alias.name!r})"
        text = f"{alias.asname or alias.name} = {value}"
        return ast.copy_location(ast.parse(text).body[0], node)


def taken(module, name):
    """What ``from module import name`` gives; a `Missing` where there is none."""
    try:
        return getattr(importlib.import_module(module), name)
    except AttributeError as error:
        if module.startswith(PREFIX + "core") and name.endswith("_pb2"):
            return messages(f"{module}.{name}".removeprefix(PREFIX))  # nobody has loaded it yet
        return Missing(f"{module.removeprefix(PREFIX)}.{name} ({error})")


def run_source(path, module):
    """Runs a file of the checkout as the module."""
    text = Path(path).read_text(encoding="utf-8")
    tree = ast.fix_missing_locations(_Imports().visit(ast.parse(text)))
    before, Missing.loading = Missing.loading, True
    try:
        exec(compile(tree, str(path), "exec"), module.__dict__)
    finally:
        Missing.loading = before


def install(exports):
    sys.meta_path.insert(0, Finder(exports))
