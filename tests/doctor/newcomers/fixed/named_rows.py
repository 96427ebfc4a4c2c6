import collections

import tensorflow as tf

Row = collections.namedtuple("Row", "step state note")
rows = []
state = tf.random.normal([64, 64])
for step in range(150):
    state = tf.sin(state)
    rows[:] = [Row(step, state, "as it was")]
