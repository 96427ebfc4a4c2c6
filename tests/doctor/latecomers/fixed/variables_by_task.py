import tensorflow as tf

heads = {}
x = tf.random.normal([8, 64])
for task in [0] * 120:
    heads[task] = tf.Variable(tf.zeros([64, 64]), name=f"head{task}")
    y = tf.matmul(x, heads[task])
