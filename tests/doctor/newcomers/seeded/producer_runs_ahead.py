# chain: Queue
# bytes: 16384
import asyncio

import tensorflow as tf


async def produce(channel):
    x = tf.random.normal([64, 64])
    for step in range(150):
        part = tf.sin(x * float(step))  # MADE
        await channel.put(part)  # HERE
        await asyncio.sleep(0)


async def main():
    channel = asyncio.Queue()
    await produce(channel)
    return channel.qsize()


print(asyncio.run(main()))
