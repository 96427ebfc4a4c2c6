# chain: Editor.undo
# chain: "editor"
# root: module __main__
# bytes: 16384
import tensorflow as tf


class Editor:
    def __init__(self, picture):
        self.picture = picture
        self.undo = []
        self.redo = []

    def apply(self, change):
        self.undo.append(self.picture)  # HERE
        self.picture = tf.tanh(self.picture + change)  # MADE


editor = Editor(tf.random.normal([64, 64]))
for number in range(140):
    editor.apply(0.01 * number)
