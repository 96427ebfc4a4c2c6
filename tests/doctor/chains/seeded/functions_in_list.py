# rule: function-in-loop
# chain: list "fns" (80 items)
# root: module __main__
import tensorflow as tf

fns = []
x = tf.ones([256])
for i in range(80):

    @tf.function  # MADE
    def scale(t):
        return tf.tanh(t) * 3.0

    y = scale(x)
    fns.append(scale)  # HERE
