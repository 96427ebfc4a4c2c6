# rule: tensors-gathered
# chain: maps
# chain: block
# root: module __main__
# bytes: 16384
import tensorflow as tf


class Attention:
    def __init__(self, width, heads):
        self.heads = heads
        self.q, self.k, self.v = (tf.random.normal([width, width]) * 0.1 for _ in range(3))
        self.maps = []

    def split(self, x):
        length, width = x.shape
        return tf.transpose(tf.reshape(x, [length, self.heads, width // self.heads]), [1, 0, 2])

    def __call__(self, x):
        q, k, v = (self.split(tf.matmul(x, w)) for w in (self.q, self.k, self.v))
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True))  # MADE
        self.maps.append(weights)  # HERE
        return tf.reshape(tf.transpose(tf.matmul(weights, v), [1, 0, 2]), x.shape)


class Block:
    def __init__(self, width):
        self.attention = Attention(width, 4)
        self.out = tf.random.normal([width, width]) * 0.1

    def __call__(self, x):
        return x + tf.matmul(self.attention(x), self.out)


block = Block(32)
for step in range(110):
    loss = float(tf.reduce_mean(block(tf.random.normal([32, 32]))))
