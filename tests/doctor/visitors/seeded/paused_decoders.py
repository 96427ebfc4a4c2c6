# rule: tensors-gathered
# chain: decoders
# root: serve()
# bytes: 24576
import tensorflow as tf

weights = tf.random.normal([64, 128]) * 0.2
mixing = tf.random.normal([128, 128]) * 0.1


def decode(prompt):
    hidden = tf.tanh(tf.matmul(prompt, weights))
    while True:
        yield int(tf.argmax(tf.reduce_sum(hidden * float(prompt.shape[0]), axis=0)))
        hidden = tf.tanh(tf.matmul(hidden, mixing))


def serve(requests):
    decoders, tokens = [], 0
    for _ in range(requests):
        decoder = decode(tf.random.normal([32, 64]))
        decoders.append(decoder)  # HERE
        for _ in range(4):
            next(decoder)
            tokens += 1
    return tokens


print(serve(150))
