# rule: tensors-gathered
# chain: futures
# root: sweep()
# bytes: 65536
from concurrent.futures import ThreadPoolExecutor

import tensorflow as tf

inputs = tf.random.normal([256, 128])
start = tf.random.normal([128, 64]) * 0.1


def fit(rate):
    """The weights and the outputs of a short training."""
    weights = start
    for _ in range(3):
        outputs = tf.matmul(inputs, weights)
        weights = weights - rate * tf.matmul(inputs, outputs, transpose_a=True) / 256.0
    return tf.matmul(inputs, weights)


def sweep(rates):
    best, futures = float("inf"), []
    with ThreadPoolExecutor(max_workers=1) as pool:
        for rate in rates:
            futures.append(pool.submit(fit, rate))  # HERE
            loss = float(tf.reduce_mean(tf.square(futures[-1].result())))
            best = min(best, loss)
    return best


print(sweep([0.001 * n for n in range(1, 131)]) > 0)
