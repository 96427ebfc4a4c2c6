import tensorflow as tf


class Grids(dict):
    def __missing__(self, angle):
        grid = tf.cos(tf.linspace(0.0, angle, 4096))
        self.clear()
        self[angle] = grid
        return grid


grids = Grids()
total = 0.0
for step in range(180):
    total += float(tf.reduce_sum(grids[0.01 * step]))
    total += float(tf.reduce_sum(grids[0.01 * step]))
print(total != 0)
