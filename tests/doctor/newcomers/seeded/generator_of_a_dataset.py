# chain: "given"
# bytes: 16384
import tensorflow as tf

given = []
base = tf.random.normal([64, 64])


def rows():
    for number in range(140):
        row = tf.sin(base + float(number))  # MADE
        given.append(row)  # HERE
        yield row


data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([64, 64], tf.float32))
total = 0.0
for row in data:
    total += float(tf.reduce_mean(row))
