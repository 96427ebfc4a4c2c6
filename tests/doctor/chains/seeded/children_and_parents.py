# rule: reference-cycle
# chain: Tree.children
# chain: Tree.parent
import tensorflow as tf


class Tree:
    def __init__(self, parent=None):
        self.children = []
        self.parent = parent  # HERE
        if parent is not None:
            parent.children.append(self)


for i in range(60):
    tree = Tree()
    leaf = Tree(tree)
    leaf.value = tf.random.normal([256, 256])  # MADE
    y = tf.reduce_sum(leaf.value)
