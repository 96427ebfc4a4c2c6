# rule: threads-arenas
# holder: variable "table" in worker()
import threading
import time

import tensorflow as tf

done = threading.Event()


def worker():
    table = tf.ones([512, 1024])  # HERE
    while not done.wait(0.01):
        tf.reduce_sum(table)


threads = [threading.Thread(target=worker) for _ in range(8)]
for thread in threads:
    thread.start()
time.sleep(1.5)
done.set()
for thread in threads:
    thread.join()
