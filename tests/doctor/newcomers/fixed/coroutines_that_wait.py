import tensorflow as tf


class Forever:
    def __await__(self):
        yield self


async def work(x):
    y = tf.exp(-tf.abs(x))
    await Forever()
    return y


waiting = []
x = tf.random.normal([64, 64])
for number in range(140):
    coroutine = work(x + float(number))
    coroutine.send(None)
    coroutine.close()
for coroutine in waiting:
    coroutine.close()
