# rule: tensors-gathered
# root: module __main__
# bytes: 16384
import logging
import logging.handlers

import tensorflow as tf

log = logging.getLogger("lot")
log.propagate = False
log.setLevel(logging.DEBUG)
log.addHandler(logging.handlers.MemoryHandler(100000, target=logging.NullHandler()))

w = tf.random.normal([64, 64]) * 0.1
for step in range(160):
    y = tf.tanh(tf.matmul(tf.random.normal([64, 64]), w))
    log.debug("step %d: %s", step, y)  # HERE
print(y.shape)
