# rule: tensors-gathered
# chain: background
# bytes: 16384
import asyncio

import tensorflow as tf

weights = tf.random.normal([64, 64]) * 0.1


async def score(user):
    features = tf.random.normal([64, 64])
    await asyncio.sleep(0)
    return tf.nn.softmax(tf.matmul(features, weights))


async def serve(requests):
    background = set()  # the loop itself holds tasks only weakly
    for user in range(requests):
        task = asyncio.create_task(score(user))
        background.add(task)  # HERE
        await asyncio.wait([task])
    return requests


print(asyncio.run(serve(180)))
