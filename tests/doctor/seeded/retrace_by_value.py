# rule: retrace-value
# holder: traces of repeat()
import tensorflow as tf


@tf.function
def repeat(x, times):
    for _ in range(times):
        x = x * 1.5
    return x


x = tf.ones([100])
for i in range(40):
    y = repeat(x, i)  # HERE
