import asyncio

import tensorflow as tf

w = tf.random.normal([64, 64]) * 0.1


class Service:
    def __init__(self):
        self.answers = []

    async def answer(self, request):
        await asyncio.sleep(0)
        return tf.nn.softmax(tf.matmul(request, w))

    async def serve(self, rounds):
        for _ in range(rounds):
            requests = [tf.random.normal([64, 64]) for _ in range(3)]
            self.answers = await asyncio.gather(*map(self.answer, requests))
        return float(tf.reduce_sum(self.answers[-1]))


service = Service()
print(round(asyncio.run(service.serve(120))))
