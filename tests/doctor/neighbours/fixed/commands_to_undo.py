import tensorflow as tf


class Paint:
    def __init__(self, canvas, layer):
        self.canvas, self.layer = canvas, layer

    def do(self):
        self.canvas.image = self.canvas.image + self.layer

    def undo(self):
        self.canvas.image = self.canvas.image - self.layer


class Canvas:
    def __init__(self):
        self.image = tf.zeros([64, 64])
        self.done = []

    def run(self, command):
        command.do()
        del self.done[:-5]
        self.done.append(command)


canvas = Canvas()
for step in range(170):
    canvas.run(Paint(canvas, tf.random.normal([64, 64])))
canvas.done.pop().undo()
print(canvas.image.shape)
