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
        if not Registry.modules:
            Registry.modules.append(Layer())
        return Registry.modules[0]


registry = Registry()
x = tf.ones([4, 100])
for epoch in range(80):
    layer = registry.make()
    out = layer(x)
