"""What the conversion says of itself: ``tf.autograph.set_verbosity``."""

from __future__ import annotations

import os

from tidemark._graph.scopes import get_logger

_said = {"level": None, "stdout": False}


def set_level(level, also_print):
    _said.update(level=int(level), stdout=bool(also_print))


def level():
    """What was set, else the environment's AUTOGRAPH_VERBOSITY, else 0."""
    if _said["level"] is not None:
        return _said["level"]
    return int(os.environ.get("AUTOGRAPH_VERBOSITY", "0"))


def log(at, message, *args):
    """Says something if the level is high enough; an argument may be a function that gives it."""
    if level() < at:
        return
    text = message % tuple(arg() if getattr(arg, "__name__", "") == "<lambda>" else arg
                           for arg in args)  # fmt: skip
    get_logger().info(text)
    if _said["stdout"]:
        print(text)
