import types

import tensorflow as tf

bag = types.SimpleNamespace()
x = tf.random.normal([64, 64])
for number in range(140):
    thing = tf.sqrt(tf.abs(x) + float(number))
    setattr(bag, f"thing{number % 2}", thing)
