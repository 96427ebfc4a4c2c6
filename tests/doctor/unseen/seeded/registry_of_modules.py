# rule: variables-each-step
# chain: attribute Registry.modules
# root: module __main__
# bytes: 40000
import tensorflow as tf


class Layer(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(tf.random.normal([100, 100]))

    def __call__(self, x):
        return tf.matmul(x, self.kernel)


class Registry:
    modules = []

    def make(self):
        layer = Layer()
        Registry.modules.append(layer)  # HERE
        return layer


registry = Registry()
x = tf.ones([4, 100])
for epoch in range(80):
    layer = registry.make()
    out = layer(x)
