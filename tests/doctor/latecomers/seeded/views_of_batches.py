# chain: "firsts"
# root: module __main__
import tensorflow as tf

firsts = []
for number in range(120):
    batch = tf.random.normal([128, 64])  # MADE
    firsts.append(batch[0])  # HERE
