# rule: traceback-holds
# chain: attribute Worker.failures (list, 70 items)
# root: module __main__
# bytes: 65536
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
            self.failures.append(failure)  # HERE


worker = Worker()
for i in range(70):
    worker.run(i)
