import tensorflow as tf


class Handler:
    def __init__(self, state):
        self.state = state
        self.on_event = type(self).handle

    def handle(self, event):
        return event, self.state


x = tf.random.normal([256, 256])
for number in range(60):
    handler = Handler(tf.exp(-tf.abs(x) * float(number)))
    handler.on_event(handler, "started")
