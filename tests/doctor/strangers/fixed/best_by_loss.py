import heapq

import tensorflow as tf

best = []
candidate = tf.random.normal([64, 64])
for trial in range(150):
    candidate = candidate * 0.98
    loss = float(tf.reduce_mean(tf.abs(candidate)))
    heapq.heappush(best, (-loss, trial, candidate))
    if len(best) > 5:
        heapq.heappop(best)
