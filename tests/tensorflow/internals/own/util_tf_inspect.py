"""``tensorflow.python.util.tf_inspect``."""

from inspect import *  # noqa: F403
