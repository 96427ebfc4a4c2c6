# rule: tensors-gathered
# bytes: 16384
"""An entry is dropped by a timer of its own, which is set far too late."""

import threading

import tensorflow as tf


def release(cache, key, block):
    if cache.get(key) is block:
        del cache[key]


cache = {}
for step in range(80):
    block = tf.cos(tf.random.normal([64, 64]))  # MADE
    cache[step % 3] = block
    timer = threading.Timer(3600.0, release, (cache, step % 3, block))  # HERE
    timer.daemon = True
    timer.start()
    value = float(tf.reduce_sum(block))
print(len(cache) < 4)
