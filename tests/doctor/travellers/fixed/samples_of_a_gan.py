import tensorflow as tf

generator = tf.Variable(tf.random.normal([32, 128]) * 0.1)
critic = tf.Variable(tf.random.normal([128, 1]) * 0.1)


def generate(noise):
    return tf.tanh(tf.matmul(noise, generator))


def train(rounds):
    samples = {}
    for number in range(rounds):
        real = tf.random.normal([64, 128])
        with tf.GradientTape() as tape:
            fake = generate(tf.random.normal([64, 32]))
            loss = tf.reduce_mean(tf.matmul(fake, critic)) - tf.reduce_mean(tf.matmul(real, critic))
        critic.assign_add(0.01 * tape.gradient(loss, critic))
        with tf.GradientTape() as tape:
            fake = generate(tf.random.normal([64, 32]))
            loss = -tf.reduce_mean(tf.matmul(fake, critic))
        generator.assign_sub(0.01 * tape.gradient(loss, generator))
        samples["newest"] = fake
    return len(samples) > 0


print(train(150))
