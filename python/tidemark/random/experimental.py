"""``tf.random.experimental``: names that moved to ``tf.random``, and stateless shuffling."""

from tidemark._export import namespace as _namespace
from tidemark._export import refusing as _refusing

globals().update(_namespace("tf.random.experimental"))

__getattr__ = _refusing("tf.random.experimental")
