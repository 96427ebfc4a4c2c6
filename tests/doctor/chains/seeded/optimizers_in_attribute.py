# rule: variables-each-step
# chain: attribute Trainer.optimizers (list, 40 items)
# root: module __main__
# bytes: 80000
import keras
import tensorflow as tf


class Trainer:
    def __init__(self):
        self.weights = tf.Variable(tf.ones([100, 100]))
        self.optimizers = []

    def round(self):
        optimizer = keras.optimizers.Adam(0.01)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self.weights * self.weights)
        optimizer.apply([tape.gradient(loss, self.weights)], [self.weights])
        self.optimizers.append(optimizer)  # HERE


trainer = Trainer()
for i in range(40):
    trainer.round()
