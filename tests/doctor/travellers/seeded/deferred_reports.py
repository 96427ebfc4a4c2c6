# rule: tensors-gathered
# chain: deferred
# root: module __main__
# bytes: 16384
import tensorflow as tf

deferred = []
w = tf.random.normal([64, 8]) * 0.1


def at_end(function):
    deferred.append(function)  # HERE


def train(step):
    batch = tf.random.normal([64, 64])
    loss = float(tf.reduce_mean(tf.square(tf.matmul(batch, w))))
    at_end(lambda: print(step, loss, float(tf.reduce_max(batch))) if loss > 100 else None)
    return loss


losses = [train(step) for step in range(160)]
for report in deferred:
    report()
print(len(losses))
