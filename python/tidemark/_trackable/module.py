"""``tf.Module``: an object that knows its variables and its parts."""

from __future__ import annotations

import functools
import re

from tidemark import nest
from tidemark._export import export
from tidemark._graph.scopes import name_scope
from tidemark._tensor.variable import Variable
from tidemark._trackable.tracking import (
    AutoTrackable,
    NoDependency,
    notice_new_attribute,
    untracked,
)

_VALID_NAME = re.compile(r"^[A-Za-z_]([A-Za-z0-9_])*$")


def _snake_case(name):
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


@export("tf.Module")
class Module(AutoTrackable):
    """Finds the variables and modules among its attributes, and in what those hold."""

    _TF_MODULE_IGNORED_PROPERTIES = frozenset({"_self_unconditional_checkpoint_dependencies"})

    def __init__(self, name=None):
        if name is None:
            name = _snake_case(type(self).__name__)
        if not _VALID_NAME.match(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python "
                "identifiers (e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope
        self._name_scope = name_scope(self._scope_name)

    def __setattr__(self, name, value):
        if isinstance(value, NoDependency):
            value = untracked(self, name, value)
        object.__setattr__(self, name, value)
        if "_self_waiting_restore" in self.__dict__:
            notice_new_attribute(self, name, value)

    name = property(lambda self: self._name)
    name_scope = property(lambda self: self._name_scope)

    @property
    def variables(self):
        """All variables of this module and its parts."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self):
        """The trainable ones among them."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self):
        """The others."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self):
        """All modules inside this one."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    def _flatten(self, recursive=True, predicate=None, attribute_traversal_key=None,
                 with_path=False, expand_composites=False):  # fmt: skip
        """What is found in the attributes, in the order of their names, each thing once."""
        seen = {id(self)}
        for path, value in _walk(self, (), seen, recursive, attribute_traversal_key):
            if predicate is None or predicate(value):
                yield (path, value) if with_path else value

    @classmethod
    def with_name_scope(cls, method):
        """Runs a method inside of the module's name scope."""

        @functools.wraps(method)
        def inside(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return inside


def _is_variable(value):
    return isinstance(value, Variable)  # graphs' variables and those of replicas, too


def _walk(module, path, seen, recursive, key):
    attributes = vars(module)
    later = []
    for name in sorted(attributes, key=key):
        if name in module._TF_MODULE_IGNORED_PROPERTIES or name == "_name_scope":
            continue
        for position, leaf in _leaves(attributes[name]):
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            at = (*path, name, *position)
            yield at, leaf
            if isinstance(leaf, Module):
                later.append((at, leaf))
    if recursive:
        for at, inner in later:
            yield from _walk(inner, at, seen, recursive, key)


def _leaves(value):
    """The leaves of a structure with their positions; keys in the order they sort as text."""
    if isinstance(value, dict):
        for name in sorted(value, key=str):
            for position, leaf in _leaves(value[name]):
                yield (name, *position), leaf
    elif nest.is_nested(value):
        for index, part in enumerate(value):
            for position, leaf in _leaves(part):
                yield (index, *position), leaf
    else:
        yield (), value
