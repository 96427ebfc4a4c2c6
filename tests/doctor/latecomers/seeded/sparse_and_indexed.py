# chain: "updates"
# root: module __main__
import tensorflow as tf

updates = []
table = tf.Variable(tf.random.normal([1000, 32]))
rows = tf.range(256)
for number in range(120):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(tf.gather(table, rows)))
    gradient = tape.gradient(loss, table)
    updates.append(gradient)  # HERE
