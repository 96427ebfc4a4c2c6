# rule: tensors-gathered
# chain: history
# root: module __main__
# bytes: 32768
import tensorflow as tf


class History(dict):
    def log(self, **values):
        for name, value in values.items():
            self.setdefault(name, []).append(value)  # HERE

    def last(self, name):
        return self[name][-1]


history = History()
for step in range(110):
    x = tf.random.normal([64, 64])
    history.log(low=tf.nn.relu(x), high=tf.sqrt(tf.abs(x)))  # MADE
    value = history.last("low")
