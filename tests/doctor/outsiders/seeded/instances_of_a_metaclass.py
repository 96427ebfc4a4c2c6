# rule: tensors-gathered
# chain: instances
# bytes: 20480
import tensorflow as tf


class Tracked(type):
    def __init__(cls, name, bases, names):
        super().__init__(name, bases, names)
        cls.instances = []

    def __call__(cls, *args, **options):
        made = super().__call__(*args, **options)
        cls.instances.append(made)  # HERE
        return made


class Batch(metaclass=Tracked):
    def __init__(self, rows):
        self.data = tf.random.normal([rows, 128])  # MADE

    def mean(self):
        return float(tf.reduce_mean(self.data))


total = 0.0
for step in range(120):
    total += Batch(40).mean()
print(total, len(Batch.instances))
