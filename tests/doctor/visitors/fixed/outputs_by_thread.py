import threading

import tensorflow as tf

outputs = {}
weights = tf.random.normal([64, 64]) * 0.1


def evaluate(x):
    y = tf.nn.sigmoid(tf.matmul(x, weights))
    outputs[threading.current_thread().name] = y


best = 0.0
for step in range(180):
    thread = threading.Thread(target=evaluate, args=(tf.random.normal([64, 64]),), name="evaluator")
    thread.start()
    thread.join()
    best = max(best, float(tf.reduce_mean(outputs[thread.name])))
print(0 < best < 1)
