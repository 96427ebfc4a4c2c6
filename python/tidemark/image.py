"""``tf.image``: sizes, orientation, colours and quality of images."""

from tidemark import (  # noqa: F401  they export what is here
    _distorted_boxes,
    _image_boxes,
    _image_color,
    _image_files,
    _image_ops,
    _image_quality,
    _image_random,
    _patches,
)
from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.image"))
