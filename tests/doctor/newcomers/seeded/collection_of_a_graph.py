# rule: graph-grows
import numpy as np
import tensorflow as tf

tf.compat.v1.disable_eager_execution()
x = tf.compat.v1.placeholder(tf.float32, [64])
sess = tf.compat.v1.Session()
for step in range(100):
    y = tf.sin(x) * float(step)  # HERE
    tf.compat.v1.add_to_collection("outputs", y)
    sess.run(y, {x: np.ones(64, np.float32)})
