# rule: tensors-gathered
# chain: seen
# root: module __main__
# bytes: 16384
import random

import tensorflow as tf


def augmented(batches):
    """Batches mixed with earlier ones."""
    seen = []
    for batch in batches:
        seen.append(batch)  # HERE
        yield 0.5 * (batch + random.choice(seen))


def source(count):
    for _ in range(count):
        yield tf.random.normal([64, 64])


stream = augmented(source(180))
total = 0.0
for batch in stream:
    total += float(tf.reduce_mean(batch))
print(total == total)
