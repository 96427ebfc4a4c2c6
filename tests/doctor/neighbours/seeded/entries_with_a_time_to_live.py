# rule: tensors-gathered
# chain: entries
# root: module __main__
# bytes: 65536
import time

import tensorflow as tf


class Cache:
    def __init__(self, seconds):
        self.seconds = seconds
        self.entries = {}

    def put(self, key, value):
        now = time.monotonic()
        for old, (until, _) in list(self.entries.items()):
            if until < now:
                del self.entries[old]
        self.entries[key] = (now + self.seconds, value)  # HERE

    def get(self, key):
        return self.entries[key][1]


cache = Cache(seconds=3600)
mean = 0.0
for user in range(150):
    cache.put(user, tf.random.normal([128, 128]))
    mean += float(tf.reduce_mean(cache.get(user)))
print(mean == mean)
