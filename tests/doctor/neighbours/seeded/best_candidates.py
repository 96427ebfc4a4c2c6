# rule: tensors-gathered
# chain: candidates
# root: module __main__
# bytes: 32768
import bisect

import tensorflow as tf

candidates = []
size = 64


def propose(step):
    if candidates:
        return candidates[0][2] + 0.1 * tf.random.normal([size, 2 * size])
    return tf.random.normal([size, 2 * size])


for step in range(150):
    weights = propose(step)
    score = float(tf.reduce_mean(tf.square(weights)))
    bisect.insort(candidates, (score, step, weights))  # HERE
print(len(candidates) > 0)
