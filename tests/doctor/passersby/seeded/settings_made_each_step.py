# rule: retrace-identity
import tensorflow as tf


class Settings:
    def __init__(self, scale):
        self.scale = scale


@tf.function
def loss(x, settings):
    return tf.reduce_mean(tf.square(x)) * settings.scale


settings = Settings(2.0)
total = 0.0
for step in range(60):
    x = tf.random.normal([16, 16])
    total += float(loss(x, Settings(2.0)))  # HERE
print(total)
