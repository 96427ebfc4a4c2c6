import tensorflow as tf


class Session:
    def __init__(self):
        self.answers = []

    def ask(self, x):
        self.answers = [tf.tanh(x)]


class Site:
    sessions = {}

    @classmethod
    def visit(cls, user, x):
        cls.sessions.setdefault(user, Session()).ask(x)


x = tf.random.normal([32, 64])
for number in range(180):
    Site.visit(f"user {number % 3}", x + float(number))
