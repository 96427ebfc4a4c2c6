import numpy as np
import tensorflow as tf

graphs = {}
table = np.ones([64, 64], np.float32)
for number in range(60):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [64, 64])
        y = tf.matmul(x, tf.constant(table * number))
        with tf.compat.v1.Session() as sess:
            sess.run(y, {x: table})
    graphs[0] = graph
