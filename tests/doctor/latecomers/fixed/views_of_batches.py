import tensorflow as tf

firsts = []
for number in range(120):
    batch = tf.random.normal([128, 64])
    firsts.append(float(tf.reduce_mean(batch[0])))
