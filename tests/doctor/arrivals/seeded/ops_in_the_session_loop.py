# rule: graph-grows
import numpy as np
import tensorflow as tf

tf.compat.v1.disable_eager_execution()

x = tf.compat.v1.placeholder(tf.float32, [None, 64])
w = tf.compat.v1.get_variable("w", [64, 64], initializer=tf.compat.v1.random_normal_initializer())
y = tf.tanh(tf.matmul(x, w))

with tf.compat.v1.Session() as session:
    session.run(tf.compat.v1.global_variables_initializer())
    for step in range(200):
        batch = np.random.rand(16, 64).astype(np.float32)
        outputs = session.run(y, {x: batch})
        session.run(tf.compat.v1.assign(w, w * 0.99))  # HERE
print(outputs.shape)
