# rule: tensors-gathered
# chain: entries
# chain: cache
# root: module __main__
# bytes: 32768
from collections import OrderedDict

import tensorflow as tf


class Cache:
    def __init__(self, capacity):
        self.capacity = capacity
        self.entries = OrderedDict()

    def get(self, key):
        if key in self.entries:
            self.entries.move_to_end(key)
            return self.entries[key]
        return None

    def put(self, key, value):
        if key in self.entries:
            self.entries[key] = value
            while len(self.entries) > self.capacity:
                self.entries.popitem(last=False)
        else:
            self.entries[key] = value  # HERE


def features(cache, key):
    found = cache.get(key)
    if found is None:
        found = tf.sin(tf.random.normal([128, 64]))  # MADE
        cache.put(key, found)
    return found


cache = Cache(8)
for step in range(130):
    value = float(tf.reduce_sum(features(cache, f"user-{step}")))
    again = float(tf.reduce_max(features(cache, f"user-{step}")))
