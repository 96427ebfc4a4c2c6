# holder tensors-gathered: list "results" in main()
# bytes tensors-gathered: 65536
# holder variables-each-step: variable
# bytes variables-each-step: 65536
import tensorflow as tf


def main():
    results, made = [], []
    for i in range(150):
        x = tf.random.normal([128, 128])
        v = tf.Variable(tf.ones([128, 128]), name="kernel")  # HERE: variables-each-step
        made.append(v)  # CHANGE: variables-each-step
        y = tf.matmul(x, v)
        results.append(tf.nn.relu(y))  # HERE: tensors-gathered


main()
