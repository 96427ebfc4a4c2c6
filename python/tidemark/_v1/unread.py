"""What updates of variables give where they happen at once: the variable, and no operation."""

from __future__ import annotations

from tidemark._tensor.variable import Variable


class UnreadVariable(Variable):
    """Stands for a variable that was just changed; it is read when somebody asks."""

    op = None  # nothing is left to run

    def __init__(self, changed):
        object.__setattr__(self, "_changed", changed)

    def __getattr__(self, name):
        return getattr(object.__getattribute__(self, "_changed"), name)

    def value(self):
        return self._changed.value()

    def read_value(self):
        return self._changed.read_value()

    def numpy(self):
        return self._changed.numpy()

    def __repr__(self):
        return repr(self._changed)


def after_update(result):
    """What an update gave: an operation's result in graphs, else the variable and no operation."""
    return UnreadVariable(result) if type(result) is Variable else result
