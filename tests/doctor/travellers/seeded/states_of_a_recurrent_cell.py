# rule: tensors-gathered
# chain: states
# root: module __main__
# bytes: 32768
import tensorflow as tf


class Cell:
    def __init__(self, units):
        self.kernel = tf.Variable(tf.random.normal([units + 16, 4 * units]) * 0.1)
        self.units = units
        self.states = {}

    def __call__(self, x, h, c):
        gates = tf.matmul(tf.concat([x, h], axis=1), self.kernel)
        i, f, g, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        return tf.sigmoid(o) * tf.tanh(c), c

    def read(self, document, words):
        h, c = self.states.get(document, (tf.zeros([32, self.units]), tf.zeros([32, self.units])))
        for word in tf.unstack(words):
            h, c = self(word, h, c)
        self.states[document] = (h, c)  # HERE
        return h


cell = Cell(128)
total = 0.0
for number in range(140):
    words = tf.random.normal([3, 32, 16])
    total += float(tf.reduce_sum(cell.read(f"document {number}", words)))
print(total == total)
