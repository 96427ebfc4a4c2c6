"""Keys of a decoder in a variable of no fixed length."""

import tensorflow as tf

keys = tf.Variable(tf.zeros([1, 128]), shape=tf.TensorShape([None, 128]))
project = tf.random.normal([64, 128]) * 0.1
score = 0.0
for token in range(100):
    hidden = tf.random.normal([32, 64])
    new = tf.matmul(hidden, project)
    keys.assign(tf.concat([keys, new], 0)[-64:])
    score += float(tf.reduce_max(tf.matmul(new, keys, transpose_b=True)))
print(score)
