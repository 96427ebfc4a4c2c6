import tensorflow as tf


def batches(count):
    for number in range(count):
        yield tf.fill([64, 64], float(number))


early = batches(150)
total = 0.0
for batch in early:
    total += float(tf.reduce_mean(batch))
