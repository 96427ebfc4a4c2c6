import tensorflow as tf


class Base:
    made = []

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        Base.made[:] = [cls]


x = tf.random.normal([64, 64])
for number in range(120):

    class Special(Base):
        weights = float(tf.reduce_mean(tf.cos(x * float(number))))

    y = Special.weights + 1.0
