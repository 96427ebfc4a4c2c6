# rule: traceback-holds
# chain: failed
# root: module __main__
# bytes: 32768
import tensorflow as tf


class Runner:
    def __init__(self, attempts):
        self.attempts = attempts
        self.failed = []

    def attempt(self, number):
        residual = tf.random.normal([128, 64])
        worst = tf.reduce_max(tf.abs(residual))
        if float(worst) > 1.0:
            raise FloatingPointError(f"diverged in attempt {number}")
        return worst

    def run(self, number):
        try:
            return self.attempt(number)
        except FloatingPointError as error:
            self.failed.append((number, error))  # HERE
        return None


runner = Runner(3)
for number in range(100):
    runner.run(number)
print(len(runner.failed))
