import asyncio

import tensorflow as tf


async def produce(channel):
    x = tf.random.normal([64, 64])
    for step in range(150):
        part = tf.sin(x * float(step))
        await channel.put(part)
        await asyncio.sleep(0)
        channel.get_nowait()


async def main():
    channel = asyncio.Queue()
    await produce(channel)
    return channel.qsize()


print(asyncio.run(main()))
