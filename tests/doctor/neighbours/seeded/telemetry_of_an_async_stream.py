# rule: tensors-gathered
# chain: past
# bytes: 16384
import asyncio

import tensorflow as tf


async def sensor(count):
    for _ in range(count):
        await asyncio.sleep(0)
        yield tf.random.normal([64, 64])


async def smoothed(readings):
    past = []
    async for reading in readings:
        past.append(reading)  # HERE
        yield tf.add_n(past[-3:]) / 3.0


async def main():
    total = 0.0
    async for value in smoothed(sensor(160)):
        total += float(tf.reduce_mean(value))
    return total


print(asyncio.run(main()) != 0)
