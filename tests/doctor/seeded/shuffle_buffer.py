# rule: dataset-buffer
# holder: dataset shuffle buffer made at
import tensorflow as tf

data = tf.data.Dataset.range(12000).map(lambda i: tf.fill([1024], tf.cast(i, tf.float32)))  # HERE
data = data.shuffle(12000)  # CHANGE
total = 0.0
for i, x in enumerate(data):
    total += float(x[0])
    if i == 600:
        break
