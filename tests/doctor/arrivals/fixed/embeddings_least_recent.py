import collections

import tensorflow as tf


class EmbeddingCache:
    """Forgets what was asked least recently."""

    def __init__(self, limit):
        self.limit = limit
        self.entries = collections.OrderedDict()

    def get(self, text, make):
        if text in self.entries:
            self.entries.move_to_end(text)
            return self.entries[text]
        value = make(text)
        self.entries[text] = value
        while 32 * 256 * 4 * len(self.entries) > self.limit:
            self.entries.popitem(last=False)
        return value


table = tf.random.normal([256, 256]) * 0.1


def embed(text):
    codes = tf.constant([ord(text[i % len(text)]) % 256 for i in range(32)])
    return tf.nn.l2_normalize(tf.gather(table, codes), axis=1)


cache = EmbeddingCache(limit=2**19)
for request in range(180):
    answer = cache.get(f"where is parcel {request}?", embed)
    cache.get(f"where is parcel {request}?", embed)
print(answer.shape)
