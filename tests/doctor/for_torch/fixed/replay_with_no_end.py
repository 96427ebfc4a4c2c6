import random
from typing import NamedTuple

import torch


class Step(NamedTuple):
    state: torch.Tensor
    reward: float


class Replay:
    def __init__(self, limit):
        self.limit = limit
        self.steps = []

    def add(self, step):
        self.steps.append(step)
        if len(self.steps) > self.limit:
            self.steps.pop(0)

    def draw(self):
        return random.choice(self.steps)


def main():
    replay = Replay(8)
    value = 0.0
    for _ in range(130):
        state = torch.tanh(torch.randn(40, 128))
        replay.add(Step(state, float(state.mean())))
        value += replay.draw().reward
    print(value)


main()
