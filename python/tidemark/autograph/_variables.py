"""Variables that have no value yet, which staged code carries about as values."""

from __future__ import annotations

import sys


class Undefined:
    """Stands for a variable that was not assigned; reading it is the error it is in Python."""

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name):
        self.symbol_name = symbol_name

    def read(self):
        raise UnboundLocalError(f"'{self.symbol_name}' is used before assignment")

    def __repr__(self):
        return f"<undefined {self.symbol_name}>"


class UndefinedReturnValue:
    """What a function returns before it reached a return statement."""

    __slots__ = ()

    def __repr__(self):
        return "<no return value>"


def is_undefined(value):
    """Whether a variable, or the value to return, was not assigned."""
    return isinstance(value, (Undefined, UndefinedReturnValue))


def ld(value):
    """Reads a variable."""
    return value.read() if isinstance(value, Undefined) else value


def ldu(load, name):
    """Reads an attribute or an item, which may not be there yet."""
    try:
        return load()
    except (KeyError, AttributeError, NameError, IndexError):
        return Undefined(name)


def handled_error():
    """The error that the except clause around handles."""
    return sys.exc_info()[1]
