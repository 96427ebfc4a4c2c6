# chain: "failures"
# root: module __main__
import tensorflow as tf

failures = {"value": [], "type": []}
x = tf.random.normal([64, 64])


def check(number):
    scores = tf.exp(-tf.abs(x) * float(number))  # MADE
    if float(tf.reduce_sum(scores)) > 0.0:
        raise ValueError(f"round {number}")


for number in range(120):
    try:
        check(number + 1)
    except ValueError as error:
        failures["value"].append(error)  # HERE
