import asyncio

import tensorflow as tf


async def stream(count):
    """Tokens of an answer, and all that was sent so far."""
    sent = []
    for _ in range(count):
        logits = tf.random.normal([16, 256]) * 0.1
        sent = [logits]
        await asyncio.sleep(0)
        yield float(tf.reduce_max(sent[-1]))


async def main():
    total = 0.0
    async for value in stream(130):
        total += value
    return total


print(asyncio.run(main()))
