"""``tf.compat.v1.logging``: messages of the package's logger, as often as is wanted."""

from __future__ import annotations

import logging as _logging
import sys as _sys

from tidemark._graph.scopes import get_logger as _get_logger

DEBUG, INFO, WARN = _logging.DEBUG, _logging.INFO, _logging.WARNING
ERROR, FATAL = _logging.ERROR, _logging.CRITICAL
_passed: dict = {}  # place in a program → how often it was passed


def log(level, msg, *args, **kwargs):
    """A message of the level."""
    _get_logger().log(level, msg, *args, **kwargs)


def debug(msg, *args, **kwargs):
    _get_logger().debug(msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    _get_logger().info(msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    _get_logger().warning(msg, *args, **kwargs)


warn = warning


def error(msg, *args, **kwargs):
    _get_logger().error(msg, *args, **kwargs)


def fatal(msg, *args, **kwargs):
    _get_logger().critical(msg, *args, **kwargs)


def vlog(level, msg, *args, **kwargs):
    """A message of the level."""
    _get_logger().log(level, msg, *args, **kwargs)


def TaskLevelStatusMessage(msg):
    _get_logger().error(msg)


def _times_passed():
    """How often the line that asks for a message was passed before."""
    frame = _sys._getframe(2)
    place = (frame.f_code, frame.f_lineno)
    count = _passed[place] = _passed.get(place, -1) + 1
    return count


def log_every_n(level, msg, n, *args):
    """The message the first time, and every n-th time from there on."""
    if _times_passed() % n == 0:
        log(level, msg, *args)


def log_first_n(level, msg, n, *args):
    """The message the first n times."""
    if _times_passed() < n:
        log(level, msg, *args)


def log_if(level, msg, condition, *args):
    """The message, if the condition holds."""
    if condition:
        log(level, msg, *args)


def flush():
    """What was said so far is written."""
    for handler in _get_logger().handlers:
        handler.flush()


def get_verbosity():
    """The lowest level of messages that are shown."""
    return _get_logger().getEffectiveLevel()


def set_verbosity(v):
    """Shows messages of the level and above."""
    _get_logger().setLevel(v)
