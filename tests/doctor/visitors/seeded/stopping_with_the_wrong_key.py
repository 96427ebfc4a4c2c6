# rule: tensors-gathered
# chain: kept
# root: module __main__
# bytes: 32768
import tensorflow as tf


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best = (float("inf"), -1)
        self.kept = {}

    def stop(self, epoch, loss, weights):
        self.best = min(self.best, (loss, epoch))
        self.kept[epoch] = weights  # HERE
        self.kept.pop(f"{epoch - self.patience}", None)
        return epoch - self.best[1] >= self.patience


x = tf.random.normal([64, 128])
y = tf.matmul(x, tf.random.normal([128, 64]))
weights = tf.zeros([128, 64])
stopping = EarlyStopping(patience=5)
for epoch in range(200):
    error = tf.matmul(x, weights) - y
    weights = weights - 0.05 * tf.matmul(x, error, transpose_a=True) / 64.0
    if stopping.stop(epoch, float(tf.reduce_mean(tf.square(error))), weights):
        break
print(epoch)
