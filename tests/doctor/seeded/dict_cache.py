# rule: tensors-gathered
# holder: dict "cache"
# bytes: 65536
import tensorflow as tf

cache = {}


def features(key):
    if key not in cache:
        cache[key] = tf.random.normal([32, 512])  # HERE
    return cache[key]


for i in range(200):
    x = features(i)
    y = tf.reduce_sum(x)
