import tensorflow as tf

decoded = {}


def decode(index):
    number = int(index)
    if number not in decoded:
        image = tf.random.normal([64, 64]) * 2.0
        decoded.clear()
        decoded[number] = image
    return decoded[number]


def load(index):
    image = tf.py_function(decode, [index], tf.float32)
    image.set_shape([64, 64])
    return image


total = 0.0
for image in tf.data.Dataset.range(150).map(load):
    total += float(tf.reduce_mean(image))
print(total)
