import tensorflow as tf

last = None
x = tf.random.normal([64, 64])


def attempt(number):
    scores = tf.cos(x * float(number))
    if float(tf.reduce_mean(scores)) < 2.0:
        raise ValueError(f"attempt {number} scored too little")


for number in range(120):
    try:
        attempt(number)
    except ValueError as error:
        last = str(error)
