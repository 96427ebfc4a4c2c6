"""``tf.keras``: the real Keras 3, on its TensorFlow backend, with this package in its place.

With ``TF_USE_LEGACY_KERAS=1`` it is Keras 2, the package ``tf_keras``.
"""

from __future__ import annotations

import importlib
import os

from tidemark._tensorflow.install import install_as_tensorflow


class KerasMissingError(AttributeError):
    """Keras is not installed; so ``hasattr(tf, "keras")`` is False."""


def load(name):
    """``tf.keras``, or one of Keras's modules that TensorFlow lists as its own."""
    if os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true"):
        return _load_keras_2(name)
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    keras = _imported(
        "keras", f"tf.{name} is Keras itself, and it is not installed: pip install keras"
    )
    if keras.config.backend() != "tensorflow":
        raise KerasMissingError(
            f"Keras runs on its {keras.config.backend()} backend in this process; set "
            "KERAS_BACKEND=tensorflow before it is imported"
        )
    # With the older names that TensorFlow's users know, as there.
    keras = importlib.import_module("keras._tf_keras.keras")
    return keras if name == "keras" else getattr(keras, name)


def _load_keras_2(name):
    keras = _imported(
        "tf_keras",
        f"TF_USE_LEGACY_KERAS is set, so tf.{name} is Keras 2, and it is not installed: "
        "pip install --no-deps tf_keras",
    )
    return keras if name == "keras" else getattr(keras, name)


def _imported(module, advice):
    """A package that sees Tidemark as TensorFlow; ``advice`` where it is not installed."""
    try:
        install_as_tensorflow()
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise KerasMissingError(advice) from None
