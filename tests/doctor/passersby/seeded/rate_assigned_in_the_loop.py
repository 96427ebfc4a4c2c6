# rule: graph-grows
"""Decay of a rate in the style of graphs and sessions."""

import tensorflow as tf

tf1 = tf.compat.v1
with tf.Graph().as_default():
    rate = tf1.get_variable("rate", [], initializer=tf1.constant_initializer(0.1))
    w = tf1.get_variable("w", [16, 16], initializer=tf1.ones_initializer())
    shrink = w.assign(w * (1.0 - rate))
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        for step in range(80):
            session.run(rate.assign(0.1 / (1 + step)))  # HERE
            session.run(shrink)
        print(session.run(rate) < 0.1)
