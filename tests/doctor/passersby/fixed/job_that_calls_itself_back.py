import gc

import tensorflow as tf

gc.disable()


class Job:
    def __init__(self, number):
        self.number = number
        self.data = tf.sin(tf.random.normal([64, 64]))
        self.on_done = Job.finish

    def finish(self):
        return float(tf.reduce_mean(self.data)) + self.number

    def run(self):
        return self.on_done(self)


total = 0.0
for number in range(120):
    total += Job(number).run()
print(total)
