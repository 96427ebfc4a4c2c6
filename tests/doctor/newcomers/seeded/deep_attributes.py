# chain: History.values
# chain: "experiment"
# bytes: 16384
import tensorflow as tf


class History:
    def __init__(self):
        self.values = {"loss": [], "grad": []}


class Trainer:
    def __init__(self):
        self.history = History()

    def step(self, x, number):
        grad = tf.sin(x) * float(number)  # MADE
        self.history.values["grad"].append(grad)  # HERE


class Experiment:
    def __init__(self):
        self.trainers = [Trainer(), Trainer()]


experiment = Experiment()
x = tf.random.normal([64, 64])
for number in range(140):
    experiment.trainers[1].step(x, number)
