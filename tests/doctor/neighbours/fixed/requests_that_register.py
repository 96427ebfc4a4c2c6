from dataclasses import dataclass, field
from typing import ClassVar

import tensorflow as tf


@dataclass
class Request:
    every: ClassVar[list] = []

    number: int
    payload: tf.Tensor = field(repr=False)

    def __post_init__(self):
        Request.every[:] = [self]

    def answer(self):
        return float(tf.reduce_sum(self.payload))


def serve(count):
    for number in range(count):
        yield Request(number, tf.random.uniform([64, 64])).answer()


print(max(serve(180)) > 0)
