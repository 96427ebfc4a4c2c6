from multiprocessing.pool import ThreadPool

import tensorflow as tf


def work(number):
    return tf.cos(x * float(number))


x = tf.random.normal([64, 64])
jobs = []
with ThreadPool(1) as pool:
    for number in range(140):
        job = pool.apply_async(work, (number,))
        job.wait()
        jobs[:] = [job]
