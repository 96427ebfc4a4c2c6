# chain: Bus.listeners
# chain: "bus"
# bytes: 16384
import tensorflow as tf


class Bus:
    def __init__(self):
        self.listeners = {}

    def listen(self, event, what):
        self.listeners.setdefault(event, []).append(what)  # HERE


class Step:
    def __init__(self, state):
        self.state = state

    def on_end(self):
        return float(tf.reduce_mean(self.state))


bus = Bus()
x = tf.random.normal([64, 64])
for number in range(130):
    step = Step(tf.exp(-tf.abs(x) * float(number)))  # MADE
    bus.listen("end", step.on_end)
