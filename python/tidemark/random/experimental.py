"""``tf.random.experimental``: names that moved to ``tf.random``, and stateless shuffling."""

from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.random.experimental"))
