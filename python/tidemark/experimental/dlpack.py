"""``tf.experimental.dlpack``: exchanging tensors with other libraries without a copy."""

from __future__ import annotations

from tidemark import _tidemark


def to_dlpack(tf_tensor):
    """A DLPack capsule of the tensor; it keeps the memory alive until it is consumed."""
    return tf_tensor.__dlpack__()


def from_dlpack(dlcapsule):
    """A tensor over the memory of a capsule, or of an object with ``__dlpack__``."""
    if type(dlcapsule).__name__ != "PyCapsule" and not hasattr(dlcapsule, "__dlpack__"):
        raise TypeError(
            f"a DLPack capsule or an object with __dlpack__ is wanted, got {dlcapsule!r}"
        )
    return _tidemark.from_dlpack(dlcapsule)
