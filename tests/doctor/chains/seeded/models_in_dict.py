# rule: variables-each-step
# chain: dict "models" (
# root: search()
# bytes: 16640
import keras
import tensorflow as tf


def search(rounds):
    models = {}
    for i in range(rounds):
        model = keras.Sequential([keras.Input([64]), keras.layers.Dense(64)])
        score = tf.reduce_sum(model(tf.ones([2, 64])))
        models[i] = model  # HERE
    return len(models), score


search(30)
