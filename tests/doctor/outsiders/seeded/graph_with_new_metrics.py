# rule: graph-grows
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
graph = tf.Graph()
with graph.as_default():
    x = tf1.placeholder(tf.float32, [None, 16])
    y = tf.matmul(x, tf.ones([16, 4]))
with tf1.Session(graph=graph) as session, graph.as_default():
    for step in range(80):
        batch = np.random.rand(8, 16).astype("float32")
        value = session.run(tf.reduce_mean(y), {x: batch})  # HERE
print(value > 0)
