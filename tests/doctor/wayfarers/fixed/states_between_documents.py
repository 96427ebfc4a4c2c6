import tensorflow as tf

cell = tf.keras.layers.LSTMCell(128)


def read(documents):
    carried = [[tf.zeros([32, 128]), tf.zeros([32, 128])]]
    for _ in range(documents):
        words = tf.random.normal([32, 16])
        output, state = cell(words, carried[-1])
        carried[-1] = state
    return output.shape


print(read(140))
