"""``tf.debugging``: checks of values, shapes and types that raise when they do not hold.

tf.debugging.assert_positive(x, message="weights must be positive")
tf.debugging.check_numerics(loss, "the loss")        # InvalidArgumentError on NaN or infinity
"""

from tidemark import _tidemark
from tidemark._export import namespace as _namespace
from tidemark._export import refusing as _refusing
from tidemark.debugging import _checks

globals().update(_namespace("tf.debugging"))

_filters_tracebacks = True


def enable_traceback_filtering():
    """Remembers the wish; tracebacks show the frames of the library in any case, which are few."""
    global _filters_tracebacks
    _filters_tracebacks = True


def disable_traceback_filtering():
    """Remembers the wish: all frames are shown."""
    global _filters_tracebacks
    _filters_tracebacks = False


def is_traceback_filtering_enabled():
    """What was wished for last; at first, that tracebacks are filtered."""
    return _filters_tracebacks


_logs_placement = False


def get_log_device_placement():
    """Whether it is told where ops run."""
    return _logs_placement


def set_log_device_placement(enabled):
    """Says whether each op that runs tells its device on the standard error, and each new plan
    those of its steps."""
    global _logs_placement
    _logs_placement = bool(enabled)
    _tidemark.log_placement(_logs_placement)


__getattr__ = _refusing("tf.debugging")
