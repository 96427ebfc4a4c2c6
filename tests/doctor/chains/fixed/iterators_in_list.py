import tensorflow as tf

data = tf.data.Dataset.range(300).map(lambda i: tf.fill([512], tf.cast(i, tf.float32)))
data = data.shuffle(64)
iterator = iter(data)
for i in range(50):
    x = next(iterator)
