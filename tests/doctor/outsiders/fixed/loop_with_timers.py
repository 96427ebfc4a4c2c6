"""Each answer is kept for a while by the loop that is to drop it."""

import asyncio

import tensorflow as tf


def drop(cache, key, answer):
    if cache.get(key) is answer:
        del cache[key]


async def answer(loop, cache, request):
    result = tf.square(tf.random.normal([80, 80]))
    cache[request % 4] = result
    loop.call_later(0.0, drop, cache, request % 4, result)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return float(tf.reduce_max(result))


async def serve(requests):
    loop = asyncio.get_running_loop()
    cache = {}
    for request in range(requests):
        await answer(loop, cache, request)


asyncio.run(serve(120))
