import tensorflow as tf

weights = [
    tf.Variable(tf.random.normal([128, 128]) * 0.1),
    tf.Variable(tf.random.normal([128, 32]) * 0.1),
]


class Average:
    def __init__(self, decay):
        self.decay = decay
        self.shadows = [[tf.identity(w) for w in weights]]

    def update(self):
        newest = zip(self.shadows[-1], weights, strict=True)
        self.shadows[-1] = [s * self.decay + w * (1 - self.decay) for s, w in newest]


average = Average(0.99)
x = tf.random.normal([64, 128])
for step in range(120):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(x, weights[0])), weights[1])))
    for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=False):
        weight.assign_sub(0.01 * gradient)
    average.update()
print(float(loss) > 0)
