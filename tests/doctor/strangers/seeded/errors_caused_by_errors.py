# chain: "last"
# root: module __main__
import tensorflow as tf

last = None
x = tf.random.normal([64, 64])


def attempt(number):
    scores = tf.cos(x * float(number))  # MADE
    if float(tf.reduce_mean(scores)) < 2.0:
        raise ValueError(f"attempt {number} scored too little")


for number in range(120):
    try:
        try:
            attempt(number)
        except ValueError as error:
            raise RuntimeError("gave up") from (last or error)
    except RuntimeError as error:
        last = error  # HERE
