"""``tf.__internal__.tracking``: objects that know their parts."""

from __future__ import annotations

from tidemark._trackable.tracking import (
    AutoTrackable,
    NoDependency,
    Trackable,
    no_automatic_dependency_tracking,
)

__all__ = ["AutoTrackable", "NoDependency", "Trackable", "no_automatic_dependency_tracking"]


def __getattr__(name):
    from tidemark._tensorflow.inner import tracking  # only Keras 2 needs it

    if name.startswith("_") or not hasattr(tracking, name):
        raise AttributeError(f"module 'tensorflow.__internal__.tracking' has no attribute {name!r}")
    return getattr(tracking, name)
