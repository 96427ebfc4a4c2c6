"""``tf.image``: sizes, orientation, colours and quality of images."""

from tidemark._export import namespace as _namespace
from tidemark._export import refusing as _refusing
from tidemark.image import (
    _boxes,
    _color,
    _distorted_boxes,
    _files,
    _geometry,
    _patches,
    _quality,
    _random,
)

globals().update(_namespace("tf.image"))

__getattr__ = _refusing("tf.image")
