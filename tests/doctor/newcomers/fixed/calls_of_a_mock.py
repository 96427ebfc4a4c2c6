from unittest import mock

import tensorflow as tf

report = mock.Mock()
x = tf.random.normal([64, 64])
for step in range(120):
    y = tf.exp(-tf.abs(x) * float(step))
    report(step, float(tf.reduce_mean(y)))
    report.reset_mock()
