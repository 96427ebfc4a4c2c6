import tensorflow as tf

pipelines = []
x = tf.random.normal([64, 64])
for part in range(120):
    data = tf.data.Dataset.from_tensor_slices(tf.sin(x + float(part))).batch(16)
    for batch in data.take(1):
        y = tf.reduce_sum(batch)
    pipelines[:] = [data]
