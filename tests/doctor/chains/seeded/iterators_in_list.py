# rule: dataset-buffer
# chain: list "iterators" (50 items)
# root: module __main__
import tensorflow as tf

data = tf.data.Dataset.range(300).map(lambda i: tf.fill([512], tf.cast(i, tf.float32)))
data = data.shuffle(64)
iterators = []
for i in range(50):
    iterator = iter(data)
    x = next(iterator)
    iterators.append(iterator)  # HERE
