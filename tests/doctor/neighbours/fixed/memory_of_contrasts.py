import tensorflow as tf

encoder = tf.random.normal([64, 128]) * 0.1


class Contrast:
    def __init__(self):
        self.bank = tf.zeros([0, 128])

    def loss(self, x):
        features = tf.math.l2_normalize(tf.matmul(x, encoder), axis=1)
        self.bank = tf.concat([self.bank[-64:], features], axis=0)
        return tf.reduce_mean(tf.matmul(features, self.bank, transpose_b=True))


contrast = Contrast()
for step in range(150):
    loss = contrast.loss(tf.random.normal([32, 64]))
print(loss.shape)
