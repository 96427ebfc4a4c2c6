import tensorflow as tf

tf.compat.v1.disable_eager_execution()

v = tf.compat.v1.get_variable("v", [64, 64], initializer=tf.compat.v1.ones_initializer())
start = tf.compat.v1.global_variables_initializer()
for i in range(40):
    with tf.compat.v1.Session() as sess:
        sess.run(start)
        sess.run(v)
