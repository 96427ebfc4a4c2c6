import threading

import tensorflow as tf


def wait_for(number):
    block = tf.fill([100, 100], float(number))
    return float(block[0, 0])


for i in range(60):
    thread = threading.Thread(target=wait_for, args=(i,), name=f"waiting-{i}", daemon=True)
    thread.start()
    thread.join()
    y = tf.reduce_sum(tf.ones([10]))
