import tensorflow as tf


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.random.normal([64, 64]) * 0.1)
        self.past = []

    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w) - x))
        gradient = tape.gradient(loss, self.w)
        self.past = [gradient]
        self.w.assign_sub(0.05 * gradient)
        return loss


model = Model()
for step in range(150):
    loss = model.train_step(tf.random.normal([32, 64]))
print(loss.shape)
