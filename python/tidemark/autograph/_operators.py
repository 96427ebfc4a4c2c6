"""Everything that converted code refers to, as ``ag__``."""

from __future__ import annotations

import tidemark as tf
from tidemark.autograph import _lists
from tidemark.autograph._context import FunctionScope, Options, with_function_scope
from tidemark.autograph._expressions import and_, assert_stmt, eq, if_exp, not_, not_eq, or_
from tidemark.autograph._impl import converted_call
from tidemark.autograph._iteration import counting
from tidemark.autograph._lists import StagedList, get_item, list_append, set_item
from tidemark.autograph._rules import as_artifact as autograph_artifact
from tidemark.autograph._statements import for_stmt, if_stmt, while_stmt
from tidemark.autograph._variables import Undefined, UndefinedReturnValue, handled_error, ld, ldu

__all__ = [
    "FunctionScope", "Options", "Undefined", "UndefinedReturnValue", "and_", "assert_stmt",
    "autograph_artifact", "converted_call", "counting", "eq", "for_stmt", "get_item",
    "handled_error", "if_exp", "if_stmt", "ld", "ldu", "list_append", "not_", "not_eq", "or_",
    "set_item", "while_stmt", "with_function_scope",
]  # fmt: skip


def list_aware(function, args):
    """The function to call: one that takes lists grown in staged loops, if one is given."""
    if args and isinstance(args[0], StagedList):
        if function is tf.stack:
            return _lists.stack
        if function is tf.concat:
            return _lists.concat
    return function
