# chain: Trie.children
# chain: "root"
# bytes: 4096
import tensorflow as tf


class Trie:
    def __init__(self, vector):
        self.vector = vector
        self.children = {}

    def insert(self, word, vector):
        node = self
        for letter in word:
            if letter not in node.children:
                node.children[letter] = Trie(vector)  # HERE
            node = node.children[letter]


root = Trie(None)
x = tf.random.normal([32, 32])
for number in range(300):
    vector = tf.sin(x * float(number))  # MADE
    root.insert(f"{number:03d}", vector)
