import tensorflow as tf


def prepare(i):
    grid = tf.fill([128, 128], float(i))
    total = float(tf.reduce_sum(grid))

    def measure():
        return total

    return measure


measures = []
for i in range(90):
    measures.append(prepare(i))
print(measures[3]())
