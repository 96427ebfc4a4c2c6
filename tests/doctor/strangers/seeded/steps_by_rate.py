# chain: "compiled"
# root: module __main__
import tensorflow as tf

compiled = {}
table = tf.random.normal([64, 64])
for number in range(60):
    rate = 1.0 / (1 + number)
    scaled = table * rate
    key = rate
    if key not in compiled:
        compiled[key] = tf.function(lambda x, scaled=scaled: tf.matmul(x, scaled))  # HERE
    compiled[key](tf.ones([4, 64]))
