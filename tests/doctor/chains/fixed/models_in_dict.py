import keras
import tensorflow as tf


def search(rounds):
    scores = {}
    model = keras.Sequential([keras.Input([64]), keras.layers.Dense(64)])
    for i in range(rounds):
        scores[i] = float(tf.reduce_sum(model(tf.ones([2, 64]))))
    return len(scores)


search(30)
