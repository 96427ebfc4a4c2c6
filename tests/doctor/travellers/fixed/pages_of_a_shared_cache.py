import tensorflow as tf


class Reader:
    pages = {}

    def __init__(self, name):
        self.name = name

    def page(self, number):
        key = (self.name, number)
        if key not in self.pages:
            self.pages.clear()
            self.pages[key] = self.load(number)
        return self.pages[key]

    def load(self, number):
        return tf.random.normal([64, 64]) * float(number + 1)


def lengths(count):
    for number in range(count):
        reader = Reader(f"file {number}")
        yield float(tf.norm(reader.page(0)))


print(sum(lengths(170)) > 0)
