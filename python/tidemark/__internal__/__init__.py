"""``tf.__internal__``: what Keras and other libraries close to TensorFlow reach for."""

from __future__ import annotations

from tidemark import nest
from tidemark.__internal__ import (
    decorator,
    dispatch,
    distribute,
    eager_context,
    smart_cond,
    tf2,
    tracking,
    types,
)
from tidemark._graph.func_graph import FuncGraph
from tidemark._tensor.specs import CompositeTensor
from tidemark._tidemark import Tensor as EagerTensor
