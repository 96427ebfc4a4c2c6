import tensorflow as tf


class Registry:
    known = {}

    @classmethod
    def add(cls, name, value):
        cls.known[name] = value


x = tf.random.normal([64, 64])
for number in range(150):
    value = tf.exp(-tf.abs(x) - float(number))
    Registry.add(f"value {number % 3}", value)
