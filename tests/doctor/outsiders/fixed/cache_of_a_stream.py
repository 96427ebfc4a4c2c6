import numpy as np
import tensorflow as tf


def frames():
    number = 0
    while True:
        yield np.full([64, 64], number, "float32")
        number += 1


def pipeline():
    spec = tf.TensorSpec([64, 64], tf.float32)
    data = tf.data.Dataset.from_generator(frames, output_signature=spec)
    data = data.prefetch(2)
    return data.map(lambda frame: frame * 0.5)


total = 0.0
for step, frame in enumerate(pipeline()):
    total += float(tf.reduce_mean(frame))
    if step == 150:
        break
