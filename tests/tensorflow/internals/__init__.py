"""TensorFlow's internal modules, as its tests import them, made of its public names alone.

``internals.python.ops.math_ops`` stands for ``tensorflow.python.ops.math_ops``: what the module
defines in the checkout and exports is the public name it is exported as (`exports.py`), looked up
in whatever ``import tensorflow`` gives. So the same tests run on TensorFlow and on Tidemark, and
neither needs a private name of the other.
"""
