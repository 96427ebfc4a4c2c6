"""Giving objects the values of a checkpoint, now or when they are made.

What a checkpoint holds for an attribute that is not there yet waits at the object: setting the
attribute restores it.
"""

from __future__ import annotations

import json
import os

from tidemark import _tidemark
from tidemark._graph.scopes import get_logger
from tidemark._graph.tracing import lifted
from tidemark.errors import DataLossError, NotFoundError
from tidemark.train._checkpoints import objects
from tidemark.train._checkpoints.writing import SUFFIX

_WAITING = "_self_waiting_restore"  # (restore, number of the object)


def open_file(prefix):
    """The file of a checkpoint; NotFoundError where there is none."""
    path = os.fspath(prefix)
    path = path if path.endswith(SUFFIX) else path + SUFFIX
    if not os.path.exists(path):
        raise NotFoundError(
            None, None, "Unsuccessful TensorSliceReader constructor: Failed to find any matching "
            f"files for {prefix}",
        )  # fmt: skip
    return _tidemark.TensorFile(path)


class Restore:
    """One checkpoint being given to objects."""

    def __init__(self, prefix):
        self.prefix = os.fspath(prefix)
        self._file = open_file(prefix)
        try:
            known = json.loads(self._file.metadata)["objects"]
            self.records = [(dict(r["children"]), dict(r["state"])) for r in known]
        except (KeyError, TypeError, ValueError) as error:
            raise DataLossError(
                None, None, f"{prefix} holds no objects, or is damaged: {error}. Checkpoints of "
                "tf.compat.v1.train.Saver are read by it",
            ) from None  # fmt: skip
        if not self.records:
            raise DataLossError(None, None, f"{prefix} holds no objects")
        self.bound = {}  # number of a record → the object
        self.is_partial = False

    def bind(self, number, value):
        """Gives an object, and what it holds already, their values: all of them or none."""
        found = []
        self._match(number, value, found, set())
        planned = [(n, v, self._read(n)) for n, v in found]
        for _, v, tensors in planned:
            _check_fits(v, tensors, self.prefix)
        for _, v, tensors in planned:
            with lifted():
                objects.restore_state(v, tensors)

    def _record(self, number):
        if not isinstance(number, int) or not 0 <= number < len(self.records):
            raise DataLossError(None, None, f"{self.prefix} is damaged: an object is missing")
        return self.records[number]

    def _match(self, number, value, found, seen):
        """Collects the (record, thing with state) that belong together."""
        if (number, id(value)) in seen:
            return
        seen.add((number, id(value)))
        links, state = self._record(number)
        is_new = self.bound.get(number) is not objects.identity(value)
        self.bound[number] = objects.identity(value)
        if state:
            if is_new and objects.saveable_state(value):
                found.append((number, value))
            return
        parts = objects.children(value)
        for name, child in links.items():
            if name in parts:
                self._match(child, parts[name], found, seen)
        places = value._waiting_places() if hasattr(value, "_waiting_places") else [value]
        for place in places:
            if hasattr(place, "__dict__"):
                # A later checkpoint takes the place of an earlier one.
                place.__dict__[_WAITING] = (self, number)

    def _read(self, number):
        return {name: self._file.read(key) for name, key in self._record(number)[1].items()}

    def attribute_was_set(self, number, name, value):
        """An object that waits has a new attribute."""
        child = self._record(number)[0].get(name)
        if child is not None:
            self.bind(child, value)


def _check_fits(value, tensors, prefix):
    if not objects.is_variable(value):
        return
    variable, tensor = objects.identity(value), tensors.get(objects.VALUE)
    if tensor is None:
        raise DataLossError(None, None, f"{prefix} is damaged: a variable has no value")
    if tensor.dtype != variable.dtype or not variable.shape.is_compatible_with(tensor.shape):
        raise ValueError(
            f"Received incompatible tensor with shape {tensor.shape} and dtype "
            f"{tensor.dtype.name} when attempting to restore variable {variable.name} with shape "
            f"{variable.shape} and dtype {variable.dtype.name} from {prefix}"
        )


def attribute_was_set(holder, name, value):
    """Called when an attribute of an object with waiting restores is set."""
    waiting = holder.__dict__.get(_WAITING)
    if waiting is not None and objects.is_part(value):
        restore, number = waiting
        restore.attribute_was_set(number, name, value)


class LoadStatus:
    """How far a restore has come."""

    def __init__(self, restore, root):
        self._restore, self._root = restore, root

    def _update(self):
        """Binds what was made since in ways that no attribute tells, such as list.append."""
        self._restore.bind(0, self._root)

    def _unmatched(self):
        bound = {id(value) for value in self._restore.bound.values()}
        return [
            (path, value)
            for path, value, _ in objects.walk(self._root)
            if id(objects.identity(value)) not in bound
        ]

    def assert_consumed(self):
        """Raises unless everything in the checkpoint and every object found its partner."""
        self._update()
        for number, (_, state) in enumerate(self._restore.records):
            if number not in self._restore.bound:
                keys = ", ".join(state.values()) or f"object {number}"
                raise AssertionError(
                    f"Unresolved object in checkpoint {self._restore.prefix}: {keys}"
                )
        return self._assert_matched(lambda value: True)

    def _assert_matched(self, counts):
        for path, value in self._unmatched():
            if counts(value) and (objects.saveable_state(value) or not objects.children(value)):
                if isinstance(value, (list, tuple, dict)):
                    continue
                raise AssertionError(
                    f"Object not assigned a value from checkpoint: {'.'.join(path)} ({value!r})"
                )
        return self

    def assert_existing_objects_matched(self):
        """Raises unless every variable there is got a value."""
        self._update()
        return self._assert_matched(objects.is_variable)

    def assert_nontrivial_match(self):
        """Raises unless something beside the root was restored."""
        self._update()
        if len(self._restore.bound) <= 1:
            raise AssertionError("Nothing except the root object matched a checkpointed value.")
        return self

    def expect_partial(self):
        """No warning about what nobody asks for."""
        self._restore.is_partial = True
        return self

    def initialize_or_restore(self, session=None):
        """Values are given at once; nothing is left to do."""

    run_restore_ops = initialize_or_restore

    def __del__(self):
        restore = getattr(self, "_restore", None)
        if restore is None or restore.is_partial or get_logger is None:
            return
        missing = [
            key
            for number, (_, state) in enumerate(restore.records)
            for key in state.values()
            if number not in restore.bound
        ]
        if missing:
            get_logger().warning(
                "Detecting that an object or model or tf.train.Checkpoint is being deleted with "
                "unrestored values: %s. Use .expect_partial() to silence this.",
                ", ".join(missing[:5]) + (", …" if len(missing) > 5 else ""),
            )


class InitializationOnly:
    """The status of a restore without a checkpoint."""

    def assert_consumed(self):
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self):
        return self

    def initialize_or_restore(self, session=None):
        """There is nothing to restore."""

    run_restore_ops = initialize_or_restore
