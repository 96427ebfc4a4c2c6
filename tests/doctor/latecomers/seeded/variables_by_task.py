# rule: variables-each-step
# chain: "heads"
# root: module __main__
# bytes: 16384
import tensorflow as tf

heads = {}
x = tf.random.normal([8, 64])
for task in range(120):
    heads[task] = tf.Variable(tf.zeros([64, 64]), name=f"head{task}")  # HERE MADE
    y = tf.matmul(x, heads[task])
