# rule: persistent-tape
# chain: list "tapes" (150 items)
# root: module __main__
# bytes: 18432
import tensorflow as tf

tapes = []
x = tf.Variable(tf.ones([48, 96]))
for i in range(150):
    with tf.GradientTape(persistent=True) as tape:
        y = tf.exp(x)  # MADE
        loss = tf.reduce_sum(y * y)
    tapes.append(tape)  # HERE
