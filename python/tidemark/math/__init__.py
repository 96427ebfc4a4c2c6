"""``tf.math``: the ops on numbers, elementwise and reducing."""

import importlib as _importlib

from tidemark._export import namespace as _namespace
from tidemark._export import refusing as _refusing
from tidemark._tensor import arrays as _arrays
from tidemark.math import _arithmetic, _counting, _products

_LATER = {  # written in modules loaded on first use
    "approx_max_k": "math._approximate_top_k",
    "approx_min_k": "math._approximate_top_k",
}

globals().update(_namespace("tf.math"))


def __getattr__(name):
    if name not in _LATER and name != "special":
        return _refusing("tf.math")(name)
    if name == "special":
        return _importlib.import_module("tidemark.math.special")
    found = getattr(_importlib.import_module("tidemark." + _LATER[name]), name)
    globals()[name] = found
    return found


def __dir__():
    return sorted({"special", *_LATER, *(name for name in globals() if not name.startswith("_"))})
