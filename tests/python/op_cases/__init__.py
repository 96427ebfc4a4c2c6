"""Every op of the registry: how to draw a call of it, and what it must give.

``CASES`` maps the name of an op to a function that takes a ``Draw`` and returns an ``Example``.
tests/python/test_op_properties.py goes through the registry: an op without a case fails there.
"""

from op_cases import (
    audio,
    bands,
    elementwise,
    files,
    images,
    linalg,
    movement,
    networks,
    picking,
    randoms,
    reductions,
    sequences,
    special,
    strings,
    tables,
)
from op_cases.drawing import CASES, Draw, dtypes_of

__all__ = ["CASES", "Draw", "dtypes_of"]
MODULES = (
    audio,
    bands,
    elementwise,
    files,
    images,
    linalg,
    movement,
    networks,
    picking,
    randoms,
    reductions,
    sequences,
    special,
    strings,
    tables,
)
