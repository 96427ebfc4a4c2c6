# holder reference-cycle: reference cycle of Node
# holder tensors-gathered: dict "cache"
# bytes tensors-gathered: 65536
import tensorflow as tf


class Node:
    def __init__(self, value):
        self.value = value
        self.me = self  # CHANGE: reference-cycle


cache = {}
for i in range(80):
    x = tf.random.normal([256, 256])  # HERE: reference-cycle
    node = Node(x)
    y = tf.reduce_sum(node.value)
    cache[i] = tf.fill([128, 128], y)  # HERE: tensors-gathered
