# rule: tensors-gathered
# root: module __main__
# bytes: 16384
import tensorflow as tf


def remember(name, tensor):
    globals()[name] = tensor  # HERE


for step in range(120):
    x = tf.random.normal([64, 64])
    y = tf.abs(x) + 1.0  # MADE
    remember(f"output_{step:04d}", y)
