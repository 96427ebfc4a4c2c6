"""The device that these tests compute on, which TIDEMARK_DEVICE names, and what it holds."""

import contextlib

import tidemark as tf
from tidemark import _tidemark

NAME = _tidemark.placement()
IS_CPU = NAME == "cpu:0"
IS_GPU = NAME.startswith("gpu:")


def stats():
    """Its counters, once the work enqueued so far is done."""
    _tidemark.wait_for_devices()
    return tf.memory.stats(NAME)


def reset_peak():
    return tf.memory.reset_peak(NAME)


def release():
    """Free memory kept for the next request goes back."""
    return _tidemark.release_device(NAME)


def live():
    """Live bytes of every device, once the work enqueued so far is done."""
    _tidemark.wait_for_devices()
    return {name: tf.memory.stats(name).live for name in _tidemark.open_devices()}


def limit():
    return tf.memory.stats(NAME).limit


def taken_by(function, *args):
    """The bytes that tensors of a call ask for at once."""
    release()
    before = stats().tensor_bytes
    reset_peak()
    result = function(*args)
    taken = stats().tensor_peak - before
    del result
    return taken


def peak_of(plan):
    """What a run of the planned function takes of it: nothing where all ops run on the host."""
    if plan.device == NAME:
        return plan.peak
    return sum(d.peak for d in plan.devices if d.name == NAME)


@contextlib.contextmanager
def little_memory(n):
    """Its n-th allocation fails; on a device, the first beyond n pieces of 512 KiB."""
    if IS_CPU:
        _tidemark.fail_allocation(n)
        try:
            yield
        finally:
            _tidemark.fail_allocation(0)
        return
    now = stats()
    _tidemark.release_device(NAME)
    used = max(now.live + now.planned, _tidemark.device_stats(NAME)["committed"])  # whole pages
    old = tf.memory.set_limit(used + (n << 19), device=NAME)
    try:
        yield
    finally:
        tf.memory.set_limit(old, device=NAME)
