# chain: "tree"
# root: module __main__
# bytes: 16384
import tensorflow as tf

tree = {}
x = tf.random.normal([64, 64])
for number in range(125):
    leaf = tf.tanh(x - 0.01 * number)  # MADE
    branch = tree.setdefault(number % 5, {}).setdefault(number % 25, {})
    branch[number] = leaf  # HERE
