import concurrent.futures
import functools

import tensorflow as tf

shutdown = concurrent.futures.Future()


def flush(buffer, _):
    return float(tf.reduce_sum(buffer))


for request in range(120):
    buffer = tf.square(tf.random.normal([60, 128]))
    done = concurrent.futures.Future()
    done.add_done_callback(functools.partial(flush, buffer))
    done.set_result(request)
shutdown.set_result(None)
