import threading

import tensorflow as tf

w = tf.random.normal([64, 64]) * 0.1


class Worker(threading.Thread):
    def __init__(self, x):
        super().__init__()
        self.x = x
        self.result = None

    def run(self):
        self.result = tf.matmul(self.x, w)
        self.x = None


workers = []
total = 0.0
for step in range(140):
    worker = Worker(tf.random.normal([64, 64]))
    worker.start()
    worker.join()
    total += float(tf.reduce_sum(worker.result))
    workers[:] = [worker]
print(total == total)
