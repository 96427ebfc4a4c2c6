# chain: samples
# chain: Generator
# root: module __main__
# bytes: 32768
"""A GAN that keeps pictures to look at later."""

import tensorflow as tf


class Generator:
    samples = []

    def __init__(self, noise, size):
        self.w = tf.random.normal([noise, size]) * 0.1

    def __call__(self, z):
        return tf.tanh(tf.matmul(z, self.w))  # MADE


class Discriminator:
    def __init__(self, size):
        self.w = tf.random.normal([size, 1]) * 0.1

    def __call__(self, images):
        return tf.reduce_mean(tf.matmul(images, self.w))


def play(generator, discriminator):
    z = tf.random.normal([32, 16])
    images = generator(z)
    verdict = discriminator(images)
    Generator.samples.append(images)  # HERE
    return float(verdict)


generator, discriminator = Generator(16, 256), Discriminator(256)
for step in range(120):
    verdict = play(generator, discriminator)
print(len(Generator.samples), verdict)
