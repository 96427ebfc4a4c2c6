"""``tf.experimental.numpy.random``: NumPy's random numbers, as tensors."""

from __future__ import annotations

import numpy as _np

import tidemark as _tf
from tidemark.experimental.numpy._kinds import array_of as _array
from tidemark.experimental.numpy._kinds import kind_of as _kind


def seed(s):
    """The seed of what is drawn from here on."""
    try:
        number = int(s)
    except (TypeError, ValueError):
        raise ValueError(f"Argument `s` ({s!r}) could not be converted to an integer.") from None
    _tf.random.set_seed(number)


def _sizes(size):
    return () if size is None else (size,) if isinstance(size, (int, _np.integer)) else tuple(size)


def randn(*args):
    """Normal numbers of a shape."""
    return standard_normal(args)


def standard_normal(size=None):
    """Normal numbers."""
    return _tf.random.normal(_sizes(size), dtype=_tf.float64)


def uniform(low=0.0, high=1.0, size=None):
    """Numbers between two."""
    low, high = (_array(x, float) for x in (low, high))
    shape = (
        _tf.broadcast_static_shape(low.shape, high.shape).as_list()
        if size is None
        else _sizes(size)
    )
    return low + (high - low) * _tf.random.uniform(shape, dtype=_tf.float64)


def random(size=None):
    """Numbers between 0 and 1."""
    return uniform(0.0, 1.0, _sizes(size))


def rand(*size):
    """Numbers between 0 and 1 of a shape."""
    return uniform(0.0, 1.0, size)


def poisson(lam=1.0, size=None):
    """Counts of events of a rate."""
    lam = _array(lam, float)
    if size is None:
        return _tf.random.poisson((), lam, dtype=_tf.int64)
    return _tf.random.poisson(_sizes(size), lam, dtype=_tf.int64)


def randint(low, high=None, size=None, dtype=int):
    """Whole numbers from the first to before the second."""
    if high is None:
        low, high = 0, low
    kind = _kind(dtype)
    if not kind.is_integer:
        raise ValueError(f"Cannot create ndarray of type {dtype} with random integers")
    drawn = kind if kind in (_tf.int32, _tf.int64) else _tf.int64
    found = _tf.random.uniform(_sizes(size), low, high, dtype=drawn)
    return _tf.cast(found, kind)
