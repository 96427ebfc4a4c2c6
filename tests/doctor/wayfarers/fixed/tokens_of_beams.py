import tensorflow as tf

w = tf.random.normal([64, 64]) * 0.2


def search(length):
    beams = [([tf.random.normal([64, 64])], 0.0), ([tf.random.normal([64, 64])], 0.0)]
    for _ in range(length):
        longer = []
        for states, score in beams:
            state = tf.tanh(tf.matmul(states[-1], w))
            longer.append(([state], score + float(tf.reduce_mean(state))))
        beams = sorted(longer, key=lambda beam: beam[1])
    return beams[0][1]


print(search(120) < 100)
