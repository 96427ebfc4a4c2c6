"""Ten threads share a session. The names are TensorFlow 1's; on TensorFlow 2 it raises."""

import threading

import tensorflow as tf

graph = tf.Graph()
with graph.as_default():
    x = tf.placeholder(tf.float32, shape=(1, 5))
    y = tf.layers.dense(x, 10)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())


def predict():
    noise = tf.random_normal((1, 5), dtype=tf.float32)
    for _ in range(100):
        sess.run(y, feed_dict={x: noise.eval(session=sess)})


threads = [threading.Thread(target=predict) for _ in range(10)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("10 threads, 100 runs each")
