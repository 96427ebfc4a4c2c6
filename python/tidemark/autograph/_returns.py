"""The end of a converted function."""

from __future__ import annotations

import tidemark as tf
from tidemark.autograph._staging import is_staged
from tidemark.autograph._variables import UndefinedReturnValue


def returned(value, did_return, missing):
    """The value to return; None where the function ended without a return statement.

    ``did_return`` is a tensor where a return may not have been met. After a condition that is an
    error, which ``missing`` tells; after a loop it is known when the graph runs, as a loop may well
    end by its return only.
    """
    if isinstance(value, UndefinedReturnValue):
        return None
    if is_staged(did_return):
        if missing is not None:
            raise ValueError(missing)
        tf.debugging.Assert(
            did_return,
            ["loop must iterate at least once to initialize the function return value: the "
             "function ended without reaching a return statement; return a value after the loop, "
             "too"],
        )  # fmt: skip
    return value
