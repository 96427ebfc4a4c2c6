# rule: graph-grows
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

table = tf.get_variable("table", [100, 32])
wanted = tf.placeholder(tf.int32, [])
row = tf.gather(table, wanted)


def vector_of(session, word):
    return session.run(tf.gather(table, word))  # HERE


with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    total = np.zeros(32)
    for step in range(250):
        total += vector_of(session, step % 100)
print(total.shape)
