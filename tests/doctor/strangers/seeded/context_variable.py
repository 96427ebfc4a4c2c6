# chain: "trail"
# bytes: 65536
import contextvars

import tensorflow as tf

trail = contextvars.ContextVar("trail")
trail.set([])
signal = tf.random.normal([128, 128])
for step in range(120):
    out = tf.nn.relu(signal - step / 100.0)  # MADE
    trail.get().append(out)  # HERE
