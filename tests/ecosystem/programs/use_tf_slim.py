"""tf-slim: layers with arguments in a scope, trained in a session."""

import tensorflow.compat.v1 as tf
import tf_slim as slim

with tf.Graph().as_default(), tf.Session() as session:
    tf.set_random_seed(0)
    x = tf.random_normal([32, 4], seed=1)
    with slim.arg_scope([slim.fully_connected], activation_fn=tf.nn.relu):
        hidden = slim.fully_connected(x, 8, scope="hidden")
        out = slim.fully_connected(hidden, 1, activation_fn=None, scope="out")
    loss = tf.losses.mean_squared_error(tf.reduce_sum(x, 1, keepdims=True), out)
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    session.run(tf.global_variables_initializer())
    losses = [session.run([loss, train])[0] for _ in range(40)]
    assert sum(losses[-5:]) < sum(losses[:5]), losses
    assert len(slim.get_model_variables()) == 4
