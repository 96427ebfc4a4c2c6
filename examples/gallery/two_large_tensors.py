"""Two tensors of four gigabytes, one after the other. TensorFlow draws them on one thread."""

import sys

import tensorflow as tf

side = int(sys.argv[1]) if len(sys.argv) > 1 else 200


@tf.function
def noise(shape):
    return tf.random.normal(shape)


for _ in range(2):
    large = noise((side, side, side))
print(large.shape)
