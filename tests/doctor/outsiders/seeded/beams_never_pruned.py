# rule: tensors-gathered
# chain: beams
# root: search()
# bytes: 12800
import heapq
import itertools

import tensorflow as tf

order = itertools.count()


def expand(state, weights):
    return tf.tanh(tf.matmul(state, weights))  # MADE


def search(steps, width):
    weights = tf.random.normal([40, 40]) * 0.2
    beams = [(0.0, next(order), tf.random.normal([80, 40]))]
    for _ in range(steps):
        cost, _, state = beams[0]
        new = expand(state, weights)
        loss = cost + abs(float(tf.reduce_mean(new)))
        heapq.heappush(beams, (loss, next(order), new))  # HERE
    return beams[0][0]


print(search(150, 4))
