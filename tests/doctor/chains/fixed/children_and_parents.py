import weakref

import tensorflow as tf


class Tree:
    def __init__(self, parent=None):
        self.children = []
        self.parent = weakref.ref(parent) if parent is not None else None
        if parent is not None:
            parent.children.append(self)


for i in range(60):
    tree = Tree()
    leaf = Tree(tree)
    leaf.value = tf.random.normal([256, 256])
    y = tf.reduce_sum(leaf.value)
