# rule: tensors-gathered
# chain: replies
# bytes: 18432
import asyncio

import tensorflow as tf


class Broker:
    def __init__(self):
        self.replies = {}

    def ask(self, request):
        future = asyncio.get_running_loop().create_future()
        self.replies[request] = future  # HERE
        return future

    def reply(self, request, x):
        self.replies[request].set_result(tf.nn.relu(x) + 0.1)  # MADE


async def main():
    broker = Broker()
    total = 0.0
    for request in range(120):
        future = broker.ask(request)
        broker.reply(request, tf.random.normal([36, 128]))
        total += float(tf.reduce_mean(await future))
        await asyncio.sleep(0)
    return total


print(asyncio.run(main()))
