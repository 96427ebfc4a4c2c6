# rule: graph-grows
# holder: the graph's nodes
import tensorflow as tf

tf.compat.v1.disable_eager_execution()

x = tf.compat.v1.placeholder(tf.float32, [16])
kept = []
with tf.compat.v1.Session() as sess:
    for i in range(100):
        y = tf.square(x)  # HERE
        kept.append(y)
        sess.run(y, {x: [float(i)] * 16})
