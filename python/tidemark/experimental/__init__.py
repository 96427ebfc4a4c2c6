"""``tf.experimental``: what TensorFlow keeps there."""

from tidemark.experimental import dlpack
