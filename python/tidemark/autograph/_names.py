"""The user's names in generated code."""

from __future__ import annotations

import re
import sys
import types

# Functions into which the conversion puts parts of the user's function.
_PART = re.compile(
    r"(if_body|else_body|loop_body|loop_test|extra_test|get_state|set_state|<lambda>)(_\d+)?$"
)

_MADE = re.compile(r"outer_factory\.<locals>\.inner_factory\.<locals>\.tf__\w+")


def renamed(code, function):
    """The code with the user's names in the places where the conversion put its own."""
    root = function.__qualname__
    return _renamed(code, function.__name__, root, root)


def _renamed(code, name, qualname, root):
    constants = tuple(_renamed_constant(value, name, qualname, root) for value in code.co_consts)
    changes = {"co_consts": constants, "co_name": name}
    if sys.version_info >= (3, 11):
        changes["co_qualname"] = qualname
    return code.replace(**changes)


def _renamed_constant(value, name, qualname, root):
    if isinstance(value, str):  # the qualified names of functions and classes inside
        prefix = _MADE.match(value)
        return root + value[prefix.end() :] if prefix else value
    if not isinstance(value, types.CodeType):
        return value
    own = value.co_name
    if not own.startswith("tf__") and not _PART.match(own):
        name, qualname = own, f"{qualname}.<locals>.{own}"  # a function within the user's
    return _renamed(value, name, qualname, root)
