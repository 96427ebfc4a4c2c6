"""Objects that know the trackable objects they hold, by name: what checkpoints are made from.

A holder refers to its parts, parts never to their holder.
"""

from __future__ import annotations

import collections
import functools

from tidemark import _tidemark

_CONTAINERS = frozenset((list, dict, collections.OrderedDict))


class Trackable:
    """Something that can be part of a checkpoint."""

    def _maybe_initialize_trackable(self):
        """Makes the table of parts, once."""
        if "_self_unconditional_checkpoint_dependencies" not in self.__dict__:
            object.__setattr__(self, "_self_unconditional_checkpoint_dependencies", {})

    def _track_trackable(self, trackable, name, overwrite=False):
        """Notes a part under a name."""
        self._maybe_initialize_trackable()
        if not is_trackable(trackable):
            raise TypeError(
                "Trackable._track_trackable() can only be used to track objects of type "
                f"Trackable. Got type {type(trackable)}."
            )
        parts = self._self_unconditional_checkpoint_dependencies
        if not overwrite and parts.get(name, trackable) is not trackable:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with "
                "this name is already declared as a dependency. Names must be unique (or "
                "overwrite=True)."
            )
        parts[name] = trackable
        return trackable

    @property
    def _setattr_tracking(self):
        return getattr(self, "_self_setattr_tracking", True)

    @_setattr_tracking.setter
    def _setattr_tracking(self, value):
        object.__setattr__(self, "_self_setattr_tracking", value)

    def _add_variable_with_custom_getter(self, name, shape=None, dtype=None, initializer=None,
                                         getter=None, overwrite=False, **kwargs):  # fmt: skip
        """A variable that a function makes, as a part under a name."""
        made = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs)
        if is_trackable(made):
            self._track_trackable(made, name=name, overwrite=overwrite)
            self._handle_deferred_dependencies(name, made)
        return made

    def _handle_deferred_dependencies(self, name, trackable):
        """Restores a part that appears after its checkpoint was read."""
        if "_self_waiting_restore" in self.__dict__:
            notice_new_attribute(self, name, trackable)

    def _lookup_dependency(self, name, cached_dependencies=None):
        self._maybe_initialize_trackable()
        return self._self_unconditional_checkpoint_dependencies.get(name)

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        """The parts by name."""
        self._maybe_initialize_trackable()
        return dict(self._self_unconditional_checkpoint_dependencies)

    @property
    def _checkpoint_dependencies(self):
        return [(name, part) for name, part in self._trackable_children().items()]

    def _no_dependency(self, value):
        return value


class AutoTrackable(Trackable):
    """Tracks what is set as its attributes."""

    def __setattr__(self, name, value):
        if isinstance(value, NoDependency):
            value = untracked(self, name, value)
        elif getattr(self, "_self_setattr_tracking", True):
            self._maybe_initialize_trackable()
            parts = self._self_unconditional_checkpoint_dependencies
            if is_trackable(value) or is_container(value):
                parts[name] = value
            else:
                parts.pop(name, None)
        super().__setattr__(name, value)
        if "_self_waiting_restore" in self.__dict__:
            notice_new_attribute(self, name, value)

    def __delattr__(self, name):
        self._maybe_initialize_trackable()
        self._self_unconditional_checkpoint_dependencies.pop(name, None)
        super().__delattr__(name)

    def _no_dependency(self, value):
        return NoDependency(value)


def notice_new_attribute(holder, name, value):
    """Restores a part that appears after its checkpoint was read."""
    from tidemark.train._checkpoints.restoring import attribute_was_set  # it imports this module

    attribute_was_set(holder, name, value)


class NoDependency:
    """Wraps a value that is to be set without being tracked."""

    def __init__(self, value):
        self.value = value


def untracked(holder, name, wrapped):
    """The value in a NoDependency; the holder notes that its attribute is no part of it."""
    holder.__dict__.setdefault("_self_untracked", set()).add(name)
    return wrapped.value


class ListWrapper(list):
    """A list that was wrapped to be tracked; lists need no wrapping here, so none is made."""


class _DictWrapper(dict):
    """A dictionary that was wrapped to be tracked; as ListWrapper."""


def is_container(value):
    """Whether a value is tracked for what may be in it: lists and dictionaries, no subclasses."""
    return type(value) in _CONTAINERS


def is_trackable(value):
    """Whether a value can be part of a checkpoint."""
    kind = type(value)
    is_variable = any(
        getattr(kind, name, False) is True
        for name in ("is_graph_variable", "is_replicated_variable")
    )
    return is_variable or isinstance(value, (Trackable, _tidemark.VariableBase))


def no_automatic_dependency_tracking(method):
    """A method that sets attributes without tracking them."""

    @functools.wraps(method)
    def not_tracking(self, *args, **kwargs):
        before = getattr(self, "_self_setattr_tracking", True)
        object.__setattr__(self, "_self_setattr_tracking", False)
        try:
            return method(self, *args, **kwargs)
        finally:
            object.__setattr__(self, "_self_setattr_tracking", before)

    return not_tracking
