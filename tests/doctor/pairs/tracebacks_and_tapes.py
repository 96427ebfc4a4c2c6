# holder traceback-holds: traceback of the ValueError
# bytes traceback-holds: 65536
# holder persistent-tape: GradientTape (persistent)
import tensorflow as tf

v = tf.Variable(tf.ones([128, 128]))
errors, tapes = [], []


def work(i):
    big = tf.random.normal([128, 128])  # HERE: traceback-holds
    raise ValueError(f"round {i}")


for i in range(100):
    with tf.GradientTape(persistent=True) as tape:  # HERE: persistent-tape
        loss = tf.reduce_sum(tf.sin(tf.matmul(v, v)))
    v.assign_sub(0.001 * tape.gradient(loss, v))
    tapes.append(tape)  # CHANGE: persistent-tape
    try:
        work(i)
    except ValueError as error:
        errors.append(error)  # CHANGE: traceback-holds
