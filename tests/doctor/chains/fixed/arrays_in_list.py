import numpy as np
import tensorflow as tf

outputs = []
for i in range(140):
    x = tf.random.normal([64, 128])
    y = tf.nn.softmax(x)
    outputs.append(float(np.asarray(y).max()))
