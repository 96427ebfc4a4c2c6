"""Giving objects the values of a checkpoint, now or when they are made.

What a checkpoint holds for an attribute that is not there yet waits at the object: setting the
attribute restores it.
"""

from __future__ import annotations

import weakref

from tidemark._graph.scopes import get_logger
from tidemark._graph.tracing import lifted
from tidemark.errors import DataLossError
from tidemark.train._checkpoints import objects

_WAITING = "_self_waiting_restore"  # (restore, number of the object)


def _reference(value):
    """A call gives the object while it lives: those that wait hold the restore, which must not hold
    them. A plain list or dict has no state of its own, and is not asked for again."""
    if isinstance(value, (list, tuple, dict)):
        return lambda: None
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


class Restore:
    """One checkpoint being given to objects."""

    def __init__(self, file, records):
        self.prefix, self._file, self.records = file.prefix, file, records
        self.bound = {}  # number of a record → a reference to the object
        self.unused = {}  # number of a record → what of its state the object has no use for
        self.is_partial = False

        self._asked = {}  # (optimizer, variable, name) → a reference to the optimizer that was told

    def object(self, number):
        """What was bound to a record, while it lives; None."""
        return self.bound[number]() if number in self.bound else None

    def bind(self, number, value):
        """Gives an object, and what it holds already, their values: all of them or none."""
        found = []
        self._match(number, value, found, set())
        give(self._file, found)
        self._ask_for_slots()

    def _ask_for_slots(self):
        """Tells optimizers what the checkpoint has for the variables that are known by now."""
        for at, record in enumerate(self.records):
            optimizer = self.object(at) if record.slots else None
            if optimizer is None or not objects.keeps_slots(optimizer):
                continue
            for (of, name), number in record.slots.items():
                variable, asked = self.object(of), self._asked.get((at, of, name))
                if variable is None or (asked is not None and asked() is optimizer):
                    continue
                self._asked[at, of, name] = _reference(optimizer)
                optimizer._create_or_restore_slot_variable(
                    slot_variable_position=SlotPlace(self, number), slot_name=name,
                    variable=variable,
                )  # fmt: skip

    def bind_slot(self, number, value):
        """Gives what an optimizer keeps beside a variable its value."""
        self.bound[number] = _reference(objects.identity(value))
        state = objects.saveable_state(value)
        stored = self.records[number].state
        name = state.find(stored) if state else None
        if name is not None:
            give(self._file, [(value, stored[name])])

    def _match(self, number, value, found, seen):
        """Collects the (thing with state, key of it) that belong together."""
        if (number, id(value)) in seen:
            return
        seen.add((number, id(value)))
        links, stored = self.records[number].children, self.records[number].state
        is_new = self.object(number) is not objects.identity(value)
        self.bound[number] = _reference(objects.identity(value))
        if stored:
            state = objects.saveable_state(value)
            name = state.find(stored) if state else None
            self.unused.pop(number, None)
            if set(stored) - {name}:
                self.unused[number] = set(stored) - {name}
            if is_new and name is not None:
                found.append((value, stored[name]))
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

    def run_in(self, session):
        """Gives variables of a graph their values in a session."""
        found = []
        for number, record in enumerate(self.records):
            value = self.object(number)
            if objects.is_graph_variable(value):
                name = objects.saveable_state(value).find(record.state)
                found.append((value, record.state[name]))
        give(self._file, found, session)

    def attribute_was_set(self, number, name, value):
        """An object that waits has a new attribute."""
        child = self.records[number].children.get(name)
        if child is not None:
            self.bind(child, value)


class SlotPlace:
    """Where a checkpoint has what an optimizer keeps beside a variable. The optimizer calls
    ``restore`` when it has it: TensorFlow's protocol, which those of Keras 2 follow, too."""

    def __init__(self, restore, number):
        self._restore, self._number = restore, number

    @staticmethod
    def is_simple_variable():
        """Nothing is made of the value itself: the optimizer makes its variable, then restores."""
        return False

    def restore(self, slot):
        self._restore.bind_slot(self._number, slot)


def give(file, found, session=None):
    """Gives things their state, (thing, key): all of it is sound and fits before any is given.

    Variables of a graph wait for a session where there is none. They are read one after the other,
    so that no more than one of them is held twice.
    """
    keys = []
    for value, key in found:
        _check_fits(value, key, file)
        keys += [key + suffix for suffix in objects.saveable_state(value).tensors]
    if len(keys) > 1:  # a single one is read as a whole before it is given
        for key in keys:
            file.verify(key)
    for value, key in found:
        if objects.is_graph_variable(value) and not (session or _default_session()):
            continue
        with lifted():
            read = lambda suffix, key=key: file.read(key + suffix)  # noqa: E731
            objects.restore_state(value, read, session)


def _default_session():
    from tidemark._v1.session import get_default_session  # loaded where a graph has variables

    return get_default_session()


def _check_fits(value, key, file):
    for suffix in objects.saveable_state(value).tensors:
        if key + suffix not in file.entries:
            raise DataLossError(None, None, f"{file.prefix} is damaged: it has no '{key}{suffix}'")
    wanted = objects.expected(value)
    if wanted is None:
        return
    (dtype, shape), (stored_dtype, stored_shape) = wanted, file.entries[key]
    if stored_dtype != dtype or not shape.is_compatible_with(stored_shape):
        raise ValueError(
            f"Received incompatible tensor with shape {tuple(stored_shape)} and dtype "
            f"{stored_dtype.name} when attempting to restore variable "
            f"{objects.full_name(value) or key} with shape {shape} and dtype {dtype.name} from "
            f"{file.prefix}"
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
        bound = {id(reference()) for reference in self._restore.bound.values()}
        return [
            (path, value)
            for path, value, _ in objects.walk(self._root)
            if id(objects.identity(value)) not in bound
        ]

    def assert_consumed(self):
        """Raises unless everything in the checkpoint and every object found its partner."""
        self._update()
        restore = self._restore
        for number, record in enumerate(restore.records):
            if record.state and number not in restore.bound:
                keys = ", ".join(record.state.values())
                raise AssertionError(f"Unresolved object in checkpoint {restore.prefix}: {keys}")
        if restore.unused:
            unused = restore.unused.items()
            names = [f"{restore.object(n)!r}: {sorted(what)}" for n, what in unused]
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but "
                "were not restored): " + "; ".join(names)
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

    def run_restore_ops(self, session=None):
        """Gives variables of a graph their values in a session; all others have theirs already."""
        self._update()
        self._restore.run_in(session)

    def initialize_or_restore(self, session=None):
        """The same; variables of a graph of which the checkpoint knows nothing are initialised."""
        self.run_restore_ops(session)
        for _, value in self._unmatched():
            if objects.is_graph_variable(value):
                (session or _default_session()).run(value.initializer)

    def __del__(self):
        restore = getattr(self, "_restore", None)
        if restore is None or restore.is_partial or get_logger is None:
            return
        missing = [
            key
            for number, record in enumerate(restore.records)
            for key in record.state.values()
            if number not in restore.bound
        ]
        if missing:
            get_logger().warning(
                "Detecting that an object or model or tf.train.Checkpoint is being deleted with "
                "unrestored values: %s. Use .expect_partial() to silence this.",
                ", ".join(missing[:5]) + (", …" if len(missing) > 5 else ""),
            )


class NamesStatus:
    """The status of a restore from a checkpoint that knows names alone, as TensorFlow 1 wrote it.

    What is made later gets nothing: nobody knows its name before.
    """

    def __init__(self, file, root):
        self._file, self._root = file, root
        given = self._variables()
        self._given = {id(value) for value, _ in given}
        self._used = {name for _, name in given}
        give(file, given)

    def _variables(self):
        found = ((value, objects.full_name(value)) for _, value, _ in objects.walk(self._root))
        return [(value, name) for value, name in found if name in self._file.entries]

    def assert_consumed(self):
        """Raises unless every variable got a value and every value has a variable."""
        left = sorted(set(self._file.entries) - self._used)
        if left:
            raise AssertionError(
                f"Unresolved objects in checkpoint {self._file.prefix}: {', '.join(left)}"
            )
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self):
        """Raises unless every variable there is got a value."""
        for path, value, _ in objects.walk(self._root):
            if objects.is_variable(value) and id(value) not in self._given:
                raise AssertionError(
                    f"Object not assigned a value from checkpoint: {'.'.join(path)} ({value!r})"
                )
        return self

    def assert_nontrivial_match(self):
        """Raises unless something was restored."""
        if not self._used:
            raise AssertionError("Nothing except the root object matched a checkpointed value.")
        return self

    def expect_partial(self):
        return self

    def initialize_or_restore(self, session=None):
        """Values are given at once; nothing is left to do."""

    run_restore_ops = initialize_or_restore


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
