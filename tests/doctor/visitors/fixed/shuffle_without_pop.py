import random

import tensorflow as tf


def images(count):
    for number in range(count):
        yield tf.fill([64, 64], float(number))


def shuffled(source, size):
    buffer = []
    for image in source:
        buffer.append(image)
        if len(buffer) >= size:
            yield buffer.pop(random.randrange(len(buffer)))


weights = tf.Variable(tf.random.normal([64, 1]) * 0.1)
steps = 0
for image in shuffled(images(220), size=10):
    outputs = tf.matmul(image / 255.0, weights)
    weights.assign_sub(0.0001 * tf.reduce_mean(outputs, axis=0, keepdims=True) * weights)
    steps += 1
print(steps)
