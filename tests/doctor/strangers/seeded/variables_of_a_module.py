# chain: Adapter.slots
# chain: model
# bytes: 16384
import tensorflow as tf


class Adapter(tf.Module):
    def __init__(self):
        super().__init__()
        self.slots = {}

    def __call__(self, x, step):
        name = f"slot{step}"
        if name not in self.slots:
            self.slots[name] = tf.Variable(tf.zeros([64, 64]))  # HERE MADE
        return tf.reduce_sum(tf.matmul(x, self.slots[name]))


model = Adapter()
x = tf.random.normal([8, 64])
for step in range(120):
    model(x, step)
