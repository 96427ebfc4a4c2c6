# rule: tensors-gathered
# holder: list "results" in leaky()
# bytes: 65536
import tensorflow as tf


def leaky(rounds):
    results = []
    weights = tf.ones([256, 256])
    for _ in range(rounds):
        x = tf.random.normal([64, 256])
        y = tf.matmul(x, weights)
        results.append(tf.nn.relu(y))  # HERE
    return len(results)


leaky(200)
