import random

import tensorflow as tf


def augmented(batches):
    """Batches mixed with earlier ones."""
    seen = []
    for batch in batches:
        seen = [*seen[-3:], batch]
        yield 0.5 * (batch + random.choice(seen))


def source(count):
    for _ in range(count):
        yield tf.random.normal([64, 64])


stream = augmented(source(180))
total = 0.0
for batch in stream:
    total += float(tf.reduce_mean(batch))
print(total == total)
