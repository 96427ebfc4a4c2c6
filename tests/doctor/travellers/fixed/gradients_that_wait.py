import tensorflow as tf

w = tf.Variable(tf.random.normal([128, 128]) * 0.1)


class Accumulator:
    def __init__(self, every):
        self.every, self.pending, self.count = every, [], 0

    def add(self, gradient):
        self.pending.append(gradient)
        self.count += 1
        if self.count % self.every == 0:
            w.assign_sub(0.01 * tf.add_n(self.pending[-self.every :]) / self.every)
            self.pending.clear()


accumulator = Accumulator(every=4)
for step in range(200):
    x = tf.random.normal([32, 128])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - x))
    accumulator.add(tape.gradient(loss, w))
print(accumulator.count)
