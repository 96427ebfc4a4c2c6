"""``tf.profiler``: traces of a program's steps."""

from tidemark.profiler import experimental
