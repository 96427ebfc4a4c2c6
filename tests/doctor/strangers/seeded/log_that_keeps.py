# chain: Keeper.records
# bytes: 16384
import logging

import tensorflow as tf


class Keeper(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)  # HERE


log = logging.getLogger("training")
log.setLevel(logging.INFO)
log.propagate = False
log.addHandler(Keeper())
x = tf.random.normal([64, 64])
for step in range(150):
    y = tf.exp(-x * x)  # MADE
    log.info("step %d gave %s", step, y)
