# chain: "model"
# root: module __main__
# bytes: 16384
import tensorflow as tf


class Model:
    pass


model = Model()
x = tf.random.normal([64, 64])
for number in range(130):
    weight = tf.sin(x * float(number))  # MADE
    model.__dict__[f"weight_{number}"] = weight  # HERE
