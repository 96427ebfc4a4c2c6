from concurrent.futures import ThreadPoolExecutor

import tensorflow as tf


def shrink(x):
    return float(tf.reduce_mean(tf.abs(x)))


def main():
    inputs = {}
    done = 0.0
    with ThreadPoolExecutor(2) as pool:
        for _ in range(160):
            x = tf.random.normal([128, 64])
            future = pool.submit(shrink, x)
            inputs = {future: x}
            done += future.result()
    return done > 0


print(main())
