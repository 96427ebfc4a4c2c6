import tensorflow as tf

cache = {}


def features(key):
    if key not in cache:
        cache[key] = tf.random.normal([32, 512])
    return cache[key]


for i in range(200):
    x = features(i % 4)
    y = tf.reduce_sum(x)
