import tensorflow as tf

images = tf.data.Dataset.range(100000).map(
    lambda n: tf.random.normal([64, 64]) + tf.cast(n, tf.float32)
)
batches = images.shuffle(2).repeat()

w = tf.Variable(tf.zeros([64, 1]))
for step, image in zip(range(120), batches, strict=False):
    w.assign_add(0.001 * tf.reduce_mean(image, axis=1, keepdims=True))
print(w.shape)
