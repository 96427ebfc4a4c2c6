import tensorflow as tf


def count(rounds):
    latest = {}
    x = tf.random.normal([32, 64])
    for number in range(rounds):
        key = f"{number % 10}"
        latest[key] = tf.sin(x + float(number))
    return len(latest)


print(count(160))
