# rule: big-constant
# holder: constant in trace 1 of score()
import tensorflow as tf


@tf.function  # HERE
def score(x):
    table = tf.constant([0.5] * (1024 * 512), shape=[1024, 512])
    return tf.matmul(x, table)


for i in range(40):
    y = score(tf.ones([2, 1024]))
