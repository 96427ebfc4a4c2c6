# rule: sessions-left-open
# holder: variables of the session opened at open_sessions.py:11
import tensorflow as tf

tf.compat.v1.disable_eager_execution()

v = tf.compat.v1.get_variable("v", [64, 64], initializer=tf.compat.v1.ones_initializer())
start = tf.compat.v1.global_variables_initializer()
sessions = []
for i in range(40):
    sess = tf.compat.v1.Session()  # HERE
    sess.run(start)
    sess.run(v)
    sessions.append(sess)
