# rule: tensors-gathered
# holder: attribute Trainer.history
# bytes: 65536
import tensorflow as tf


class Trainer:
    def __init__(self):
        self.weights = tf.Variable(tf.ones([128, 128]))
        self.history = []

    def step(self, x):
        y = tf.matmul(x, self.weights)
        z = tf.tanh(y)  # HERE
        self.history.append(z)  # CHANGE
        return tf.reduce_mean(z)


trainer = Trainer()
for i in range(150):
    batch = tf.random.normal([128, 128])
    loss = trainer.step(batch)
