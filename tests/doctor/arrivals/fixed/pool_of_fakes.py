import random

import tensorflow as tf

generator = tf.Variable(tf.random.normal([32, 768]) * 0.05)
critic = tf.Variable(tf.random.normal([768, 1]) * 0.05)


def critic_step(real, fake):
    with tf.GradientTape() as tape:
        margin = tf.matmul(fake, critic) - tf.matmul(real, critic)
        loss = tf.reduce_mean(tf.nn.relu(1.0 + margin))
    critic.assign_sub(0.01 * tape.gradient(loss, critic))
    return float(loss)


def train(steps):
    pool = []  # the critic sees old images too
    total = 0.0
    for _ in range(steps):
        fake = tf.tanh(tf.matmul(tf.random.normal([16, 32]), generator))
        pool.insert(random.randrange(len(pool) + 1), fake)
        del pool[20:]
        total += critic_step(tf.random.normal([16, 768]), random.choice(pool))
    return total / steps


print(train(150) > 0)
