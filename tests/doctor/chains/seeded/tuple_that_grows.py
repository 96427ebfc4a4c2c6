# rule: tensors-gathered
# chain: tuple "history"
# root: train()
# bytes: 25600
import tensorflow as tf


def train(rounds):
    history = ()
    for i in range(rounds):
        x = tf.random.normal([80, 80])
        history = history + (tf.square(x),)  # HERE
    return len(history)


train(100)
