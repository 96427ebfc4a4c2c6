import tensorflow as tf

results = {}
x = tf.random.normal([64, 64])
for trial in range(150):
    y = tf.exp(-tf.abs(x) * (trial + 1.0))
    results |= {"trial": y}
