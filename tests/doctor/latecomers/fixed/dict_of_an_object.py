import tensorflow as tf


class Model:
    pass


model = Model()
x = tf.random.normal([64, 64])
for number in range(130):
    weight = tf.sin(x * float(number))
    model.__dict__["weight"] = weight
