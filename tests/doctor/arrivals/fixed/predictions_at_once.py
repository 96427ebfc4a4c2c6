import tensorflow as tf

weights = tf.random.normal([48, 40]) * 0.2


@tf.function
def predict(x):
    return tf.nn.softmax(tf.matmul(x, weights))


def batches(count):
    for _ in range(count):
        yield tf.random.normal([256, 48])


def evaluate():
    sure = 0
    predictions = (predict(x) for x in batches(200))
    for prediction in predictions:
        sure += int(tf.reduce_sum(tf.cast(tf.reduce_max(prediction, axis=1) > 0.5, tf.int32)))
    return sure


print(evaluate() > 0)
