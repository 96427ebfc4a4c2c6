import collections

import tensorflow as tf

source = tf.data.Dataset.range(400).map(lambda i: tf.fill([256], tf.cast(i, tf.float32)))
source = source.shuffle(100)
readers = collections.deque(maxlen=1)
total = 0.0
for i in range(40):
    reader = iter(source)
    total += float(next(reader)[0])
    readers.append(reader)
