"""What ``tensorflow.python.ops.linalg.linear_operator`` has beyond ``tf.linalg``."""

from __future__ import annotations


def make_composite_tensor(cls, module_name="tf.linalg"):
    """The class itself: what operators are made of is found in their attributes here."""
    return cls
