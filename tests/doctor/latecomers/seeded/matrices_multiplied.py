# chain: "products"
# root: module __main__
# bytes: 65536
import tensorflow as tf

products = []
a = tf.random.normal([128, 128])
for number in range(110):
    a = tf.tanh(tf.matmul(a, a))  # MADE
    products.insert(0, a)  # HERE
