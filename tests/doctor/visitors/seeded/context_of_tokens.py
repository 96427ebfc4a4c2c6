# chain: context
# root: generate()
# bytes: 16384
import tensorflow as tf

size = 512
queries = tf.random.normal([size, size]) * 0.02
head = tf.random.normal([size, size]) * 0.05


def attend(token, context):
    scores = tf.matmul(tf.matmul(token, queries), context, transpose_b=True)
    return tf.matmul(tf.nn.softmax(scores), context)


def generate(count):
    token = tf.random.normal([8, size])
    context = tf.zeros([0, size])
    for _ in range(count):
        context = tf.concat([context, token], axis=0)  # HERE
        token = tf.tanh(tf.matmul(attend(token, context), head))
    return token


print(generate(150).shape)
