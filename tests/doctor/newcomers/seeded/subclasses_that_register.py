# chain: Base.made
# bytes: 16384
import tensorflow as tf


class Base:
    made = []

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        Base.made.append(cls)  # HERE


x = tf.random.normal([64, 64])
for number in range(120):

    class Special(Base):
        weights = tf.cos(x * float(number))  # MADE

    y = Special.weights + 1.0
