import tensorflow as tf


class Adapted:
    """A model that stays as it is, and a small correction that is learnt for each user."""

    def __init__(self):
        self.base = tf.random.normal([64, 64]) * 0.1
        self.adapter = tf.Variable(tf.zeros([64, 64]))

    def learn(self, user, x, y):
        self.adapter.assign(tf.random.normal([64, 64]) * 0.01)
        adapter = self.adapter
        for _ in range(2):
            with tf.GradientTape() as tape:
                outputs = tf.matmul(x, self.base + adapter)
                loss = tf.reduce_mean(tf.square(outputs - y))
            adapter.assign_sub(0.1 * tape.gradient(loss, adapter))
        return float(loss)


model = Adapted()
total = 0.0
for visit in range(150):
    x, y = tf.random.normal([8, 64]), tf.random.normal([8, 64])
    total += model.learn(f"user-{visit}", x, y)
print(total > 0)
