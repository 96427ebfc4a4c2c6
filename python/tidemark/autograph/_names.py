"""The user's names in generated code."""

from __future__ import annotations

import re
import sys
import types

# Functions into which the conversion puts parts of the user's function.
_PARTS = r"(if_body|else_body|loop_body|loop_test|extra_test|get_state|set_state)(_\d+)?"
_PART = re.compile(rf"({_PARTS}|<lambda>)$")
_INSIDE_PART = re.compile(rf"<locals>\.{_PARTS}\.(?=<locals>)")
_MADE = re.compile(r"outer_factory\.<locals>\.inner_factory\.<locals>\.tf__\w+")


def renamed(code, function):
    """The code with the user's names in the places where the conversion put its own."""
    return _renamed(code, function.__name__, function.__qualname__)


def _renamed(code, name, root):
    own = code.co_name
    if not own.startswith("tf__") and not _PART.match(own) and own != "inner_factory":
        name = own  # a function within the user's
    constants = tuple(_renamed_constant(value, name, root) for value in code.co_consts)
    changes = {"co_consts": constants, "co_name": name}
    if sys.version_info >= (3, 11):
        changes["co_qualname"] = _qualified(code.co_qualname, root)
    return code.replace(**changes)


def _renamed_constant(value, name, root):
    if isinstance(value, types.CodeType):
        return _renamed(value, name, root)
    return _qualified(value, root) if isinstance(value, str) else value


def _qualified(name, root):
    """A qualified name, of a function or class inside, as it would be in the user's code."""
    made = _MADE.match(name)
    return root + _INSIDE_PART.sub("", name[made.end() :]) if made else name
