import tensorflow as tf


def tidy(rounds):
    results = []
    weights = tf.ones([256, 256])
    for _ in range(rounds):
        x = tf.random.normal([64, 256])
        y = tf.matmul(x, weights)
        results.append(float(tf.reduce_sum(tf.nn.relu(y))))
    return len(results)


tidy(200)
