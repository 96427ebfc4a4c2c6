"""What packages ask of ``tensorflow.python.trackable`` beyond ``tf.__internal__.tracking``."""

from __future__ import annotations

import collections
import contextlib

from tidemark._trackable.tracking import (
    AutoTrackable,
    ListWrapper,
    NoDependency,
    Trackable,
    _DictWrapper,
)

TrackableReference = collections.namedtuple("TrackableReference", "name ref")


class RestoredResource(AutoTrackable):
    """A resource out of a saved model."""


class CapturableResource(Trackable):
    """A resource that functions may use."""


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj):
    """A context in which attributes are set without being tracked."""
    before = getattr(obj, "_self_setattr_tracking", True)
    object.__setattr__(obj, "_self_setattr_tracking", False)
    try:
        yield
    finally:
        object.__setattr__(obj, "_self_setattr_tracking", before)


class CheckpointInitialValue:
    """A first value out of a checkpoint; values are restored after the making here."""


class CheckpointInitialValueCallable:
    """As CheckpointInitialValue, when it is asked for."""


class TrackableDataStructure(Trackable):
    """A list or a dictionary that tracks what is in it; plain ones do here."""


class DelegatingTrackableMixin:
    """Passes what is asked of a trackable on to the one it was made with."""

    def __init__(self, trackable_obj):
        self._trackable = trackable_obj

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return self._trackable._trackable_children(save_type, **kwargs)

    def _track_trackable(self, trackable, name, overwrite=False):
        return self._trackable._track_trackable(trackable, name, overwrite)

    def _handle_deferred_dependencies(self, name, trackable):
        return self._trackable._handle_deferred_dependencies(name, trackable)

    def _lookup_dependency(self, name, cached_dependencies=None):
        return self._trackable._lookup_dependency(name)


class ObjectGraphView:
    """The objects below a root."""

    def __init__(self, root):
        self._root = root

    def breadth_first_traversal(self):
        """All trackable objects, nearest first, and the ways to them."""
        from tidemark.train._checkpoints import objects  # loaded on first use

        found = [(path, value) for path, value, _ in objects.walk(self._root)]
        paths = {id(value): path for path, value in found}
        return [value for _, value in found], paths


def register_session_provider(session_provider):
    """Keras tells which session it uses; sessions here are opened by who uses them."""


def streaming_restore(status, session=None):
    """Values are restored when objects appear; there is nothing left to do."""


def saveable_objects_from_trackable(obj):
    """What a checkpoint writes of the object itself."""
    from tidemark.train._checkpoints import objects  # loaded on first use

    return objects.saveable_state(obj)


def wrap(value):
    """The value: plain lists and dictionaries are tracked here."""
    return wrap_or_unwrap(value)


def wrap_or_unwrap(value):
    """The value itself, whether it is to be tracked or not."""
    return value.value if isinstance(value, NoDependency) else value


def sticky_attribute_assignment(trackable, name, value):
    """The value to set as an attribute, which is tracked under the name."""
    track = not isinstance(value, NoDependency)
    value = wrap_or_unwrap(value)
    if track and isinstance(value, Trackable):
        trackable._track_trackable(value, name=name, overwrite=True)
    return value


__all__ = ["ListWrapper", "_DictWrapper"]
