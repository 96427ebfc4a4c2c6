import tensorflow as tf


class Job:
    def __init__(self):
        self.errors = {}

    def attempt(self, step):
        batch = tf.random.normal([64, 64])
        if step >= 0:
            raise RuntimeError(f"no room for step {step}")
        return batch

    def run(self, steps):
        for step in range(steps):
            try:
                self.attempt(step)
            except RuntimeError as error:
                self.errors[step] = str(error)


job = Job()
job.run(150)
print(len(job.errors))
