import concurrent.futures

import tensorflow as tf


def preprocess(number):
    return tf.one_hot(tf.range(64) + number % 8, 128)


jobs = []
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    for number in range(140):
        job = pool.submit(preprocess, number)
        job.result()
        jobs.append(job.done())
