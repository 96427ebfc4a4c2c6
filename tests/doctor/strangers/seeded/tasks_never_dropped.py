# chain: "tasks"
# root: module __main__
# bytes: 16384
import asyncio

import tensorflow as tf

tasks = set()
weights = tf.random.normal([64, 64])


async def answer(request):
    await asyncio.sleep(0)
    return tf.matmul(weights, weights) + float(request)  # MADE


async def serve():
    for request in range(140):
        task = asyncio.ensure_future(answer(request))
        tasks.add(task)  # HERE
        await task


asyncio.run(serve())
