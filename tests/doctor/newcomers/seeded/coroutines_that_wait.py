# chain: "waiting"
# root: module __main__
# bytes: 32768
import tensorflow as tf


class Forever:
    def __await__(self):
        yield self


async def work(x):
    y = tf.exp(-tf.abs(x))  # MADE
    await Forever()
    return y


waiting = []
x = tf.random.normal([64, 64])
for number in range(140):
    coroutine = work(x + float(number))
    coroutine.send(None)
    waiting.append(coroutine)  # HERE
for coroutine in waiting:
    coroutine.close()
