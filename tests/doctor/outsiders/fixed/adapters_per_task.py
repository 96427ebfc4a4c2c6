import tensorflow as tf


class Backbone(tf.Module):
    def __init__(self):
        super().__init__()
        self.base = tf.Variable(tf.random.normal([64, 64]))
        self.adapters = []

    def begin(self):
        self.adapters = [tf.Variable(tf.random.normal([64, 64]))]

    def __call__(self, x):
        return tf.matmul(tf.matmul(x, self.base), self.adapters[-1])


backbone = Backbone()
for task in range(100):
    backbone.begin()
    loss = tf.reduce_mean(tf.square(backbone(tf.random.normal([4, 64]))))
print(len(backbone.trainable_variables) > 1)
