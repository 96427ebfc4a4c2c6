"""``tf.random``: random numbers, counter-based, so that they do not depend on the thread count.

    tf.random.set_seed(7)                               # the same numbers in every run
    x = tf.random.normal([2, 3])
    g = tf.random.Generator.from_seed(1)                # a stream of its own
    y = g.uniform([2], maxval=10, dtype=tf.int32)
    z = tf.random.stateless_normal([2], seed=[1, 2])    # a function of the seed alone

Every draw is made by one stateless op from a seed of two 64-bit numbers; what keeps state are small
counters in Python.
"""

from tidemark._export import namespace as _namespace
from tidemark._export import refusing as _refusing
from tidemark.random import _candidate_sampling, _functions, _generator

globals().update(_namespace("tf.random"))

from tidemark.random import experimental  # noqa: E402

__getattr__ = _refusing("tf.random")
