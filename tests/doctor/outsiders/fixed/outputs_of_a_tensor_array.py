import tensorflow as tf


def cell(state, weights):
    return tf.tanh(tf.matmul(state, weights))


def decode(steps):
    weights = tf.random.normal([64, 64]) * 0.1
    state = tf.random.normal([64, 64])
    outputs = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
    for step in range(steps):
        state = cell(state, weights)
        outputs = outputs.write(step, tf.reduce_mean(state))
    return float(outputs.read(steps - 1))


print(decode(140))
