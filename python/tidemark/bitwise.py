"""``tf.bitwise``: the ops on the bits of integers."""

from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.bitwise"))
