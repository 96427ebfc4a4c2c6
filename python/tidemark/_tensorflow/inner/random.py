"""Functions of ``tensorflow.python.ops`` about chance that are not public."""

from __future__ import annotations

import hashlib

import tidemark as tf


def parameterized_truncated_normal(shape, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0,
                                   dtype=tf.float32, seed=None, name=None):  # fmt: skip
    """Normal numbers between bounds, all of which may differ from element to element."""
    means, stddevs = tf.cast(means, dtype), tf.cast(stddevs, dtype)
    half = tf.sqrt(tf.constant(0.5, dtype))
    low, high = (
        (1 + tf.math.erf((tf.cast(bound, dtype) - means) / stddevs * half)) / 2
        for bound in (minvals, maxvals)
    )
    share = low + (high - low) * tf.random.uniform(shape, dtype=dtype, seed=seed)
    return means + stddevs * tf.math.ndtri(share)


def gen_new_seed(seed, salt):
    """A seed that a seed and a text determine."""
    if seed is None:
        return None
    text = (str(seed) + salt).encode("utf-8")
    return int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF
