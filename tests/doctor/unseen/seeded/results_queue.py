# rule: tensors-gathered
# chain: attribute Queue.queue
# root: module __main__
# bytes: 16384
import queue

import tensorflow as tf

results = queue.Queue()
for i in range(150):
    x = tf.random.normal([64, 64])
    results.put(tf.matmul(x, x))  # HERE
print(results.qsize())
