import tensorflow as tf

points = []
for number in range(100):
    w = tf.Variable(tf.random.normal([64, 64]))
    w.assign_add(tf.ones([64, 64]))
    points[:] = [tf.train.Checkpoint(w=w)]
