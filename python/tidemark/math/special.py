"""``tf.math.special``: functions of mathematical physics."""

from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.math.special"))
