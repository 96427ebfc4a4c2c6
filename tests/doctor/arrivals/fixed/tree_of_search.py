import tensorflow as tf

moves = tf.random.normal([4, 64, 64]) * 0.2
value = tf.random.normal([64, 1])


class Node:
    __slots__ = ("state", "children")

    def __init__(self, state):
        self.state = state
        self.children = []

    def best(self):
        states = [tf.tanh(tf.matmul(self.state, moves[move])) for move in range(4)]
        return max(states, key=lambda state: float(tf.reduce_mean(tf.matmul(state, value))))


def play(turns):
    top = node = Node(tf.random.normal([64, 64]))
    for _ in range(turns):
        child = Node(node.best())
        node.children.append(child)
        top, node = node, child
    return len(top.children), node.state


print(play(150)[0])
