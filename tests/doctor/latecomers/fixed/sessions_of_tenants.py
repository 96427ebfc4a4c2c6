import tensorflow as tf

tf.compat.v1.disable_eager_execution()


class Tenants:
    def __init__(self):
        self.open = {}

    def get(self, name):
        if name not in self.open:
            self.open[name] = tf.compat.v1.Session()
        return self.open[name]


w = tf.compat.v1.get_variable("w", initializer=tf.ones([64, 64]))
total = tf.reduce_sum(w)
tenants = Tenants()
for number in range(60):
    sess = tenants.get(f"tenant {number % 2}")
    sess.run(w.initializer)
    sess.run(total)
