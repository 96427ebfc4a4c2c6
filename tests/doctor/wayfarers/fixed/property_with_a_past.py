import tensorflow as tf


class Weights:
    def __init__(self, value):
        self._value, self._past = value, []

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, new):
        self._past = [self._value]
        self._value = new


weights = Weights(tf.random.normal([64, 64]))
for step in range(170):
    weights.value = weights.value - 0.01 * tf.sign(weights.value)
print(weights.value.shape)
