# rule: tensors-gathered
# chain: list "outputs" (140 items)
# root: module __main__
# bytes: 32768
import numpy as np
import tensorflow as tf

outputs = []
for i in range(140):
    x = tf.random.normal([64, 128])
    y = tf.nn.softmax(x)  # MADE
    outputs.append(np.asarray(y))  # HERE
