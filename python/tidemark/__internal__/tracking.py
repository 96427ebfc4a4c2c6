"""``tf.__internal__.tracking``: objects that know their parts."""

from tidemark._trackable.tracking import (
    AutoTrackable,
    NoDependency,
    Trackable,
    no_automatic_dependency_tracking,
)

__all__ = ["AutoTrackable", "NoDependency", "Trackable", "no_automatic_dependency_tracking"]
