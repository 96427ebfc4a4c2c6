"""``tf.image``: sizes, orientation, colours and quality of images."""

from tidemark import _image_color, _image_ops  # noqa: F401  they export what is here
from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.image"))
