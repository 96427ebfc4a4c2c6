# rule: tensors-gathered
# chain: film
# root: module __main__
# bytes: 49152
import tensorflow as tf


class Film:
    """film.frame_7 is decoded when it is asked for."""

    def __init__(self, height, width):
        self.height, self.width = height, width

    def __getattr__(self, name):
        kind, _, number = name.partition("_")
        if kind != "frame" or not number.isdigit():
            raise AttributeError(name)
        frame = tf.random.uniform([self.height, self.width]) * float(number)  # MADE
        setattr(self, name, frame)  # HERE
        return frame


film = Film(96, 128)
for number in range(110):
    light = float(tf.reduce_mean(getattr(film, f"frame_{number}")))
