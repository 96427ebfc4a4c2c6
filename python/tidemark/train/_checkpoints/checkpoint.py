"""``tf.train.Checkpoint``."""

from __future__ import annotations

import inspect
import os
import weakref

from tidemark import dtypes
from tidemark._graph.func_graph import inside_function
from tidemark._graph.staged import python_call
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.variable import Variable
from tidemark._trackable.checkpoint_files import open_checkpoint
from tidemark._trackable.tracking import AutoTrackable, Trackable
from tidemark._v1.train.checkpoint_state import update_checkpoint_state
from tidemark.train._checkpoints import objects
from tidemark.train._checkpoints.restoring import (
    InitializationOnly,
    LoadStatus,
    NamesStatus,
    Restore,
    attribute_was_set,
)
from tidemark.train._checkpoints.writing import write


class CheckpointOptions:
    """How checkpoints are written; what is about devices and threads has no effect."""

    def __init__(self, experimental_io_device=None, experimental_enable_async_checkpoint=False,
                 experimental_write_callbacks=None, enable_async=False,
                 experimental_sharding_callback=None,
                 experimental_skip_slot_variables=False):  # fmt: skip
        self.experimental_io_device = experimental_io_device
        self.enable_async = experimental_enable_async_checkpoint or enable_async
        self.experimental_enable_async_checkpoint = self.enable_async
        self.experimental_write_callbacks = experimental_write_callbacks
        for callback in experimental_write_callbacks or ():
            takes = len(inspect.signature(callback).parameters)
            assert takes <= 1, f"a callback takes the path or nothing; {callback} takes {takes}"
        self.experimental_sharding_callback = experimental_sharding_callback
        self.experimental_skip_slot_variables = experimental_skip_slot_variables

    def __copy__(self):
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        if self.experimental_write_callbacks is not None:
            made.experimental_write_callbacks = list(self.experimental_write_callbacks)
        return made


class PythonState(Trackable):
    """State of Python objects in a checkpoint: subclasses turn it into bytes and back."""

    def serialize(self):
        raise NotImplementedError

    def deserialize(self, string_value):
        raise NotImplementedError


class Checkpoint(AutoTrackable):
    """Saves and restores the objects it is given, by name."""

    def __init__(self, root=None, **kwargs):
        self._save_counter = None
        self._given_root = root  # or a weak reference to it, where the root holds this
        root = self._root
        for name in sorted(kwargs):
            value = kwargs[name]
            if not objects.is_part(value) and not isinstance(value, (list, tuple, dict)):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived from "
                    f"`Trackable`), got {value} of type {type(value)} for '{name}'. If you believe "
                    "this object should be trackable, please open an issue."
                )
            setattr(self, name, value)
            has = None if root is None else objects.children(root).get(name)
            if has is not None and objects.identity(has) is not objects.identity(value):
                raise ValueError(
                    f"Cannot create a Checkpoint with keyword argument {name} if root.{name} "
                    "already exists."
                )
        if root is not None and not objects.is_part(root):
            raise ValueError(
                "Expected an object to be trackable; `root` must be a Trackable, got "
                f"{type(root).__name__}"
            )

    def __setattr__(self, name, value):
        if name in ("_given_root", "_save_counter"):
            self.__dict__[name] = value
            return
        super().__setattr__(name, value)

    @property
    def _root(self):
        given = self._given_root
        return given() if isinstance(given, weakref.ref) else given

    def _checkpoint_parts(self):
        """All that is saved, by name: the root's parts count as the checkpoint's own."""
        found = {}
        if self._root is not None:
            found.update(objects.children(self._root), root=self._root)
        for name, value in vars(self).items():
            if not name.startswith("_") and objects.is_part(value):
                if found.get(name, value) is not value:
                    raise ValueError(
                        f"Object {self._root} already has the attribute '{name}', which the "
                        "Checkpoint is given with another value"
                    )
                found[name] = value
        if self._save_counter is not None:
            found["save_counter"] = self._save_counter
        return found

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return self._checkpoint_parts()

    @property
    def _stands_for_root(self):
        return self._root is not None

    def _waiting_places(self):
        """The objects whose new attributes are this one's parts."""
        return [self] if self._root is None else [self, self._root]

    @property
    def save_counter(self):
        """How often ``save`` was called: a variable, saved with the rest."""
        if self._save_counter is None:
            made = Variable(convert_to_tensor(0, "int64"), trainable=False, name="save_counter")
            self._save_counter = made
            if objects.is_graph_variable(made):
                objects.initialize(made)
            attribute_was_set(self, "save_counter", made)
        return self._save_counter

    def write(self, file_prefix, options=None):
        """Writes a checkpoint under exactly this prefix; in a function, whenever it runs."""
        if not inside_function():
            return self._written(write(self, file_prefix), options)

        def now(prefix):  # into a folder that is there already, as TensorFlow's operation
            written = write(self, prefix.numpy().decode(), makes_folder=False)
            return self._written(written, options)

        return python_call(now, [file_prefix], [(dtypes.string, ())])[0]

    def _written(self, prefix, options):
        _call_back(options, prefix)
        return prefix

    def save(self, file_prefix, options=None):
        """Writes a numbered checkpoint and notes it as the latest of its folder."""
        prefix = os.fspath(file_prefix)
        number = objects.number_of(self.save_counter) + 1
        objects.assign(self.save_counter, number)
        try:
            path = write(self, f"{prefix}-{number}")
        except BaseException:
            objects.assign(self.save_counter, number - 1)
            raise
        update_checkpoint_state(os.path.dirname(path), path)
        _call_back(options, path)
        return path

    def read(self, save_path, options=None):
        """Restores what ``write`` wrote; the status tells how much of it found a place."""
        file = open_checkpoint(save_path)
        records = file.objects()
        if records is None:
            return NamesStatus(file, self)
        restore = Restore(file, records)
        restore.bind(0, self)
        return LoadStatus(restore, self)

    def restore(self, save_path, options=None):
        """Restores what ``save`` wrote; None restores nothing."""
        if save_path is None:
            return InitializationOnly()
        status = self.read(save_path, options)
        _ = self.save_counter  # made now, it gets its value
        return status

    def sync(self):
        """Writing is done when ``save`` returns."""


def _call_back(options, path):
    for callback in (options and options.experimental_write_callbacks) or ():
        callback(path) if inspect.signature(callback).parameters else callback()
