"""The device that these tests compute on, which TIDEMARK_DEVICE names, and what it holds."""

import tidemark as tf
from tidemark import _tidemark

NAME = _tidemark.placement()
IS_CPU = NAME == "cpu:0"


def stats():
    """Its counters, once the work enqueued so far is done."""
    _tidemark.wait_for_devices()
    return tf.memory.stats(NAME)


def reset_peak():
    return tf.memory.reset_peak(NAME)


def live():
    """Live bytes of every device, once the work enqueued so far is done."""
    _tidemark.wait_for_devices()
    return {name: tf.memory.stats(name).live for name in _tidemark.open_devices()}
