# chain: Log.entries
# bytes: 8192
import dataclasses

import tensorflow as tf


@dataclasses.dataclass
class Log:
    title: str
    entries: list = dataclasses.field(default_factory=list)

    def write(self, entry):
        self.entries.append(entry)  # HERE


def main():
    log = Log("outputs of the first layer")
    w = tf.random.normal([32, 64])
    for step in range(160):
        out = tf.tanh(w * (step * 0.1))  # MADE
        log.write({"step": step, "out": out})
    return log


log = main()
