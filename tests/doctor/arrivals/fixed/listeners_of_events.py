import tensorflow as tf

listeners = {"batch_end": [], "epoch_end": []}
losses = {"distance": 0.0}


def fire(event, *arguments):
    for listener in listeners[event]:
        listener(*arguments)


def epoch(weights):
    targets = tf.random.normal([64, 64])

    def distance(outputs):
        losses["distance"] = float(tf.reduce_mean(tf.square(outputs - targets)))

    listeners["batch_end"] = [distance]
    outputs = tf.tanh(tf.matmul(targets, weights))
    fire("batch_end", outputs)
    fire("epoch_end")


weights = tf.random.normal([64, 64]) * 0.1
for _ in range(120):
    epoch(weights)
print(len(losses))
