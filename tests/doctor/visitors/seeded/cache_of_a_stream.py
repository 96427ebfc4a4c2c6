# rule: dataset-buffer
# bytes: 16384
import numpy as np
import tensorflow as tf


def sensor():
    """Readings that never end."""
    while True:
        yield np.random.rand(64, 64).astype(np.float32)


dataset = tf.data.Dataset.from_generator(
    sensor, output_signature=tf.TensorSpec([64, 64], tf.float32)
)
dataset = dataset.map(lambda reading: (reading - 0.5) * 2.0)
dataset = dataset.cache()  # HERE

weights = tf.Variable(tf.random.normal([64, 1]) * 0.1)
for step, reading in enumerate(dataset):
    weights.assign_sub(0.001 * tf.matmul(reading, weights))
    if step == 199:
        break
print(weights.shape)
