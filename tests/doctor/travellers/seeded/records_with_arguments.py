# rule: tensors-gathered
# chain: buffer
# root: module __main__
# bytes: 16384
import logging

import tensorflow as tf


class Recent(logging.Handler):
    """Shows the newest line of the log."""

    def __init__(self):
        super().__init__()
        self.buffer = []

    def emit(self, record):
        self.buffer.append(record)  # HERE

    def newest(self):
        return self.buffer[-1].msg


log = logging.getLogger("training")
log.setLevel(logging.INFO)
log.propagate = False
recent = Recent()
log.addHandler(recent)
w = tf.random.normal([64, 64]) * 0.1
for step in range(150):
    y = tf.tanh(tf.matmul(tf.random.normal([64, 64]), w))
    log.info("outputs %s at %d", y, step)
print(recent.newest())
