import tensorflow as tf


def embed(position, *, memo={}):
    if position not in memo:
        memo[position] = tf.cos(base * position)
    return memo[position]


base = tf.random.normal([64, 64])
for step in range(150):
    y = embed((step % 3) * 0.5) * 2.0
