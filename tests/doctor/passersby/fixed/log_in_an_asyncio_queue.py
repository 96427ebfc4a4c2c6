import asyncio

import tensorflow as tf


class Server:
    def __init__(self):
        self.log = asyncio.Queue()
        self.answers = asyncio.Queue(2)

    async def answer(self, x):
        y = tf.tanh(x)
        await self.log.put(float(tf.reduce_max(y)))
        await self.answers.put(float(tf.reduce_mean(y)))


async def client(server, requests):
    total = 0.0
    for _ in range(requests):
        await server.answer(tf.random.normal([64, 64]))
        total += await server.answers.get()
    return total


async def main():
    server = Server()
    return await client(server, 130)


print(asyncio.run(main()))
