import collections

import tensorflow as tf


class Store:
    def __init__(self, size):
        self.size = size
        self.cache = collections.OrderedDict()

    def look(self, key, x):
        if key not in self.cache:
            self.cache[key] = tf.cos(x * key[1])
        self.cache.move_to_end(key)
        if len(self.cache) > self.size:
            self.cache.popitem(last=False)
        return self.cache[key]


store = Store(4)
x = tf.random.normal([64, 64])
for number in range(140):
    store.look(("request", float(number)), x)
