import tensorflow as tf

seen = []


def clean(row):
    row = tf.clip_by_value(row, -1.0, 1.0)
    seen[:] = [row]
    return row


dataset = tf.data.Dataset.range(200).map(lambda n: tf.random.normal([64, 64]))
dataset = dataset.map(lambda row: tf.py_function(clean, [row], tf.float32))
mean = 0.0
for row in dataset:
    mean += float(tf.reduce_mean(row))
print(abs(mean) < 100)
