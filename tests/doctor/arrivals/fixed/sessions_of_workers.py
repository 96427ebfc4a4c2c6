import numpy as np
import tensorflow as tf

tf.compat.v1.disable_eager_execution()

graph = tf.Graph()
with graph.as_default():
    x = tf.compat.v1.placeholder(tf.float32, [None, 128])
    w = tf.compat.v1.get_variable("w", [128, 128])
    score = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    start = tf.compat.v1.global_variables_initializer()


def evaluate(seeds):
    """The best score of random weights, each tried in a session of its own."""
    best = float("inf")
    batch = np.ones([4, 128], np.float32)
    for _ in range(seeds):
        with tf.compat.v1.Session(graph=graph) as session:
            session.run(start)
            best = min(best, session.run(score, {x: batch}))
    return best


print(evaluate(100) > 0)
