import asyncio

import tensorflow as tf

tasks = set()
weights = tf.random.normal([64, 64])


async def answer(request):
    await asyncio.sleep(0)
    return tf.matmul(weights, weights) + float(request)


async def serve():
    for request in range(140):
        task = asyncio.ensure_future(answer(request))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await task


asyncio.run(serve())
