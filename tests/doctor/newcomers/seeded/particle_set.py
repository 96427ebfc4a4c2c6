# chain: "alive"
# root: module __main__
# bytes: 16384
import tensorflow as tf


class Particle:
    def __init__(self, cloud):
        self.cloud = cloud


alive = set()
start = tf.random.normal([64, 64])
for tick in range(140):
    cloud = tf.sin(start + 0.1 * tick)  # MADE
    alive.add(Particle(cloud))  # HERE
