# rule: tensors-gathered
# chain: images
# root: module __main__
# bytes: 36864
import tensorflow as tf


class Figure:
    """A picture of panels that is drawn anew after every step."""

    def __init__(self):
        self.images = {}

    def show(self, panel, image):
        self.images.setdefault(panel, []).append(image)  # HERE

    def draw(self):
        return {panel: float(tf.reduce_max(of[-1])) for panel, of in self.images.items()}


figure = Figure()
for step in range(160):
    queries, keys = tf.random.normal([96, 32]), tf.random.normal([96, 32])
    attention = tf.nn.softmax(tf.matmul(queries, keys, transpose_b=True))
    figure.show(f"head {step % 4}", attention)
    drawn = figure.draw()
print(sorted(drawn))
