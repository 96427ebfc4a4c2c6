# chain: "results"
# root: module __main__
# bytes: 16384
import tensorflow as tf

results = {}
x = tf.random.normal([64, 64])
for trial in range(150):
    y = tf.exp(-tf.abs(x) * (trial + 1.0))  # MADE
    results |= {f"trial-{trial}": y}  # HERE
