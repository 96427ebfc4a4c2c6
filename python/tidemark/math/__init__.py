"""``tf.math``: the ops on numbers, elementwise and reducing."""

from tidemark import _array_ops, _math_ops
from tidemark._export import namespace as _namespace

_LATER = {  # written in modules loaded on first use
    "approx_max_k": "math._approximate_top_k",
    "approx_min_k": "math._approximate_top_k",
}

globals().update(_namespace("tf.math"))


def __getattr__(name):
    if name not in _LATER and name != "special":
        raise AttributeError(f"module 'tidemark.math' has no attribute {name!r}")
    from importlib import import_module

    if name == "special":
        return import_module("tidemark.math.special")
    found = getattr(import_module("tidemark." + _LATER[name]), name)
    globals()[name] = found
    return found


def __dir__():
    return sorted({"special", *_LATER, *(name for name in globals() if not name.startswith("_"))})
