# rule: graph-grows
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

w = tf.get_variable("w", [32, 4])


def answer(session, batch):
    x = tf.placeholder(tf.float32, [None, 32])
    fetches = {"y": tf.nn.softmax(tf.matmul(x, w))}  # HERE
    return session.run(fetches, {x: batch})["y"]


with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for request in range(160):
        y = answer(session, np.ones([2, 32], np.float32))
print(y.shape)
