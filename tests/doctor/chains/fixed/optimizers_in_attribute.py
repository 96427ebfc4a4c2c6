import keras
import tensorflow as tf


class Trainer:
    def __init__(self):
        self.weights = tf.Variable(tf.ones([100, 100]))
        self.optimizer = keras.optimizers.Adam(0.01)

    def round(self):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self.weights * self.weights)
        self.optimizer.apply([tape.gradient(loss, self.weights)], [self.weights])


trainer = Trainer()
for i in range(40):
    trainer.round()
