import tensorflow as tf


class Worker:
    def __init__(self):
        self.failures = []

    def load(self, i):
        block = tf.random.normal([128, 128])
        if i >= 0:
            raise RuntimeError(f"block {i} is broken")
        return block

    def run(self, i):
        try:
            return self.load(i)
        except RuntimeError as failure:
            self.failures.append(str(failure))


worker = Worker()
for i in range(70):
    worker.run(i)
