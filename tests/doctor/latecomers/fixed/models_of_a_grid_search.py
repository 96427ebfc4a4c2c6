import keras
import tensorflow as tf


class Search:
    def __init__(self):
        self.tried = []

    def attempt(self, units):
        model = keras.Sequential([keras.Input([16]), keras.layers.Dense(units)])
        score = float(tf.reduce_mean(model(tf.ones([2, 16]))))
        self.tried.append((score, 256))


search = Search()
for number in range(40):
    search.attempt(256)
