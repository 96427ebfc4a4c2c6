import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

x = tf.placeholder(tf.float32, [None, 32])
w = tf.get_variable("w", [32, 8])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
optimizer = tf.train.GradientDescentOptimizer(0.01)
update = optimizer.minimize(loss)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(150):
        value, _ = session.run([loss, update], {x: np.random.rand(16, 32).astype(np.float32)})
print(value >= 0)
