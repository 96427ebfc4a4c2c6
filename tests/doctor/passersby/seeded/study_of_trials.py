# rule: tensors-gathered
# chain: trials
# chain: extras
# chain: study
# root: module __main__
# bytes: 16384
"""A search over rates in which each trial keeps its weights."""

import dataclasses
import random

import tensorflow as tf


@dataclasses.dataclass
class Trial:
    number: int
    rate: float
    value: float = 0.0
    extras: dict = dataclasses.field(default_factory=dict)

    def attach(self, name, thing):
        self.extras[name] = thing


class Study:
    def __init__(self):
        self.trials = []

    def ask(self):
        return Trial(len(self.trials), 10 ** random.uniform(-3, 0))

    def tell(self, trial, value):
        trial.value = value
        self.trials.append(trial)  # HERE

    def best(self):
        return min(self.trials, key=lambda trial: trial.value)


def objective(trial):
    w = tf.random.normal([64, 64])
    for _ in range(3):
        w = w - w * trial.rate
    trial.attach("weights", w)
    return float(tf.reduce_mean(tf.square(w)))


study = Study()
for _ in range(100):
    trial = study.ask()
    study.tell(trial, objective(trial))
print(study.best().rate)
