# rule: tensors-gathered
# chain: instances
# bytes: 32768
import tensorflow as tf


class Counted:
    """Knows what there is of it, for the page of diagnostics."""

    instances = []

    def __init__(self):
        Counted.instances.append(self)  # HERE


class Image(Counted):
    def __init__(self, pixels):
        super().__init__()
        self.pixels = pixels

    def thumbnail(self):
        return tf.nn.avg_pool2d(tf.expand_dims(self.pixels, 0), 8, 8, "VALID")


class Grey(Image):
    def thumbnail(self):
        return tf.reduce_mean(super().thumbnail(), axis=-1)


brightest = 0.0
for step in range(150):
    image = Grey(tf.random.uniform([64, 64, 2]))
    brightest = max(brightest, float(tf.reduce_max(image.thumbnail())))
print(0 < brightest < 1)
