import tensorflow as tf


class Trie:
    def __init__(self, vector):
        self.vector = vector
        self.children = {}

    def insert(self, word, vector):
        node = self
        for letter in word:
            if letter not in node.children:
                node.children[letter] = Trie(vector)
            node = node.children[letter]


root = Trie(None)
x = tf.random.normal([32, 32])
for number in range(300):
    vector = tf.sin(x * float(number))
    root.insert(str(number % 10), vector)
