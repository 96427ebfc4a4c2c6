# rule: tensors-gathered
# chain: members
# root: module __main__
# bytes: 20480
import tensorflow as tf


class Ensemble:
    def __init__(self, size):
        self.size = size
        self.members = ()

    def join(self, weights):
        self.members = (*self.members, weights)  # HERE

    def predict(self, x):
        voters = self.members[-self.size :]
        return tf.add_n([tf.nn.softmax(tf.matmul(x, weights)) for weights in voters]) / len(voters)


ensemble = Ensemble(5)
x = tf.random.normal([32, 128])
y = tf.one_hot(tf.random.uniform([32], maxval=40, dtype=tf.int32), 40)
weights = tf.random.normal([128, 40]) * 0.1
for cycle in range(170):
    error = tf.nn.softmax(tf.matmul(x, weights)) - y
    weights = weights - 0.1 * tf.matmul(x, error, transpose_a=True)
    ensemble.join(weights)
    outputs = ensemble.predict(x)
print(outputs.shape)
