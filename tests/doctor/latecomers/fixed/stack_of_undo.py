import tensorflow as tf


class Editor:
    def __init__(self, picture):
        self.picture = picture
        self.undo = []
        self.redo = []

    def apply(self, change):
        self.undo = [self.picture]
        self.picture = tf.tanh(self.picture + change)


editor = Editor(tf.random.normal([64, 64]))
for number in range(140):
    editor.apply(0.01 * number)
