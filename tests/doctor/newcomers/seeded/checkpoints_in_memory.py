# rule: variables-each-step
# chain: "points"
# root: module __main__
# bytes: 16384
import tensorflow as tf

points = []
for number in range(100):
    w = tf.Variable(tf.random.normal([64, 64]))  # MADE
    w.assign_add(tf.ones([64, 64]))
    points.append(tf.train.Checkpoint(w=w))  # HERE
