import weakref

import tensorflow as tf


class Layer:
    def __init__(self, number):
        self.number = number


class Output:
    def __init__(self, layer, value):
        self.layer = layer
        self.value = value


outputs = weakref.WeakKeyDictionary()
x = tf.random.normal([64, 64])
for number in range(140):
    layer = Layer(number)
    value = tf.sin(x * float(number))
    outputs[layer] = Output(number, value)
