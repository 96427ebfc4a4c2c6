# rule: reference-cycle
# holder: reference cycle of Node
import tensorflow as tf


class Node:
    def __init__(self, value):
        self.value = value
        self.me = self  # CHANGE


for i in range(60):
    x = tf.random.normal([256, 256])  # HERE
    node = Node(x)
    y = tf.reduce_sum(node.value)
