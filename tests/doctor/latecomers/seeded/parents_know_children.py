# rule: reference-cycle
import tensorflow as tf


class Parent:
    def __init__(self, value):
        self.value = value
        self.child = Child(self)


class Child:
    def __init__(self, owner):
        self.owner = owner  # HERE


x = tf.random.normal([256, 256])
for number in range(60):
    parent = Parent(tf.exp(-tf.abs(x) * float(number)))  # MADE
