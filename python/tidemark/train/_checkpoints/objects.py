"""What an object is made of, as checkpoints see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tidemark import _tidemark, dtypes
from tidemark._graph.tracing import lifted
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.variable import Variable
from tidemark._trackable.module import Module
from tidemark._trackable.tracking import AutoTrackable, Trackable, is_container
from tidemark.random._generator import GeneratorState
from tidemark.tensor_shape import TensorShape

VALUE = "VARIABLE_VALUE"
_HIDDEN = ("_self_", "_name_scope", "_tf_names")


def _is_keras_variable(value):
    return hasattr(value, "_value") and hasattr(value, "_initializer") and hasattr(value, "value")


def is_variable(value):
    """A tf.Variable, or one of Keras's that has its value already."""
    if isinstance(value, (_tidemark.VariableBase, Variable)):
        return True
    return _is_keras_variable(value) and is_variable(value._value)


def is_graph_variable(value):
    """A variable of a graph: its values are those of sessions."""
    return getattr(value, "is_graph_variable", False)


def _session(given=None):
    from tidemark._v1.session import default_session  # loaded where there is such a variable

    return given or default_session()


def value_of(variable):
    """The value of a variable; that of a graph's in the default session."""
    if is_graph_variable(variable):
        with lifted():
            return convert_to_tensor(_session().run(variable))
    return variable.value()


def number_of(counter):
    """The number that a variable, or anything that is one, stands for."""
    return int(value_of(counter)) if is_graph_variable(counter) else int(counter)


def initialize(variable):
    """Gives a graph's variable its first value where there is a session to have it."""
    from tidemark._v1.session import get_default_session  # loaded where there is such a variable

    if get_default_session() is not None:
        get_default_session().run(variable.initializer)


def assign(variable, value, session=None):
    """Gives a variable a value; one of a graph in the session, or in the default one."""
    if is_graph_variable(variable):
        variable.load(value.numpy() if hasattr(value, "numpy") else value, _session(session))
    else:
        variable.assign(value)


def identity(value):
    """The object that counts: a Keras variable and the tf.Variable it holds are one, and so are a
    checkpoint and the root it was given."""
    if is_variable(value):
        return value._value if _is_keras_variable(value) else value
    return value._root if getattr(value, "_stands_for_root", False) else value


def keeps_slots(value):
    """Whether it is an optimizer that keeps variables beside those it trains: one of TensorFlow 1
    or of Keras 2. Others have theirs as parts."""
    return hasattr(value, "_create_or_restore_slot_variable") and hasattr(value, "get_slot_names")


def full_name(value):
    """What TensorFlow 1 calls a variable in its checkpoints."""
    if isinstance(value, GeneratorState):
        return "StateVar"
    return identity(value).name.partition(":")[0] if is_variable(value) else ""


class State(NamedTuple):
    """A thing's own state, in the tensors of a checkpoint."""

    name: str  # of the attribute
    tensors: dict  # what follows the key of the attribute → how to get the tensor
    other_names: tuple = ()  # under which it is read as well

    def find(self, stored):
        """The name under which it is among these; None."""
        return next((name for name in (self.name, *self.other_names) if name in stored), None)


def saveable_state(value):
    """The state of things that have one; None."""
    if is_variable(value):
        return State(VALUE, {"": lambda: value_of(identity(value))})
    if isinstance(value, GeneratorState):
        return State(VALUE, {"": value.tensor})
    if _is_iterator(value):
        return State("ITERATOR_STATE", {"": lambda: convert_to_tensor(value.save())})
    if hasattr(value, "serialize") and hasattr(value, "deserialize") and _is_python_state(value):
        return State("py_state", {"": lambda: convert_to_tensor(value.serialize())})
    if _is_mutable_table(value):
        rows = {"-keys": lambda: value.export()[0], "-values": lambda: value.export()[1]}
        return State("table", rows, ("rows",))  # as dense tables were called before
    return None


def restore_state(value, read, session=None):
    """Gives a thing its state again; ``read(what follows the key)`` gives a tensor."""
    if is_variable(value):
        assign(identity(value), read(""), session)
    elif isinstance(value, GeneratorState):
        value.put(read("").numpy().tolist())
    elif _is_iterator(value):
        value.restore(read("").numpy())
    elif _is_mutable_table(value):
        value._import(read("-keys"), read("-values"))
    else:
        value.deserialize(read("").numpy())


def expected(value):
    """(dtype, shape) of a variable's value; None where any will do."""
    if is_variable(value):
        return identity(value).dtype, identity(value).shape
    if isinstance(value, GeneratorState):
        return dtypes.int64, TensorShape([3])
    return None


def _is_iterator(value):
    from tidemark.data._iterator import Iterator  # only datasets need it

    return isinstance(value, Iterator) and value._dataset is not None


def _is_python_state(value):
    from tidemark.train._checkpoints.checkpoint import PythonState  # it imports this module

    return isinstance(value, PythonState)


def _is_mutable_table(value):
    table = getattr(value, "_table", None)
    return isinstance(table, _tidemark.HashTable) and hasattr(value, "insert")


def is_part(value):
    """Whether a value, or something inside it, can be in a checkpoint."""
    if is_variable(value) or isinstance(value, (Module, Trackable)) or saveable_state(value):
        return True
    if isinstance(value, (list, tuple)):
        return any(map(is_part, value))
    if isinstance(value, Mapping):
        return any(map(is_part, value.values()))
    return False


def _is_tracked(value):
    """Whether an attribute is an object of its own in checkpoints: lists are, also empty ones."""
    return is_container(value) or is_part(value)


def children(value):
    """The parts of an object by name."""
    if is_variable(value) or saveable_state(value):
        return {}
    if isinstance(value, (list, tuple)):
        found = {str(at): part for at, part in enumerate(value) if _is_tracked(part)}
        for name, part in zip(getattr(value, "_fields", ()), value, strict=False):
            if _is_tracked(part):
                found[name] = part
        return found
    if isinstance(value, Mapping):
        return {str(name): part for name, part in value.items() if _is_tracked(part)}
    if hasattr(value, "_checkpoint_parts"):
        return value._checkpoint_parts()
    found = {}
    if isinstance(value, Trackable):
        found.update(value._trackable_children())
    hidden = vars(value).get("_self_untracked", ())
    for name, part in vars(value).items():
        if name not in found and name not in hidden and _is_attribute_of(value, name, part):
            found[name] = part
    return found


def _is_attribute_of(holder, name, part):
    """Whether an attribute that nobody tracked is part of its holder all the same.

    In a module everything is, unless it tracks itself as Keras 2 does. Where Keras tracks, the
    layers in lists and dictionaries of a model are: TensorFlow leaves them out, and what they have
    learned is lost.
    """
    if name.startswith(_HIDDEN):
        return False
    keeps_all = isinstance(holder, Module) and type(holder).__setattr__ is Module.__setattr__
    if isinstance(holder, AutoTrackable) and not keeps_all:
        return not name.startswith("_") and isinstance(part, (list, dict)) and is_part(part)
    return _is_tracked(part)


def walk(root):
    """(path, object, its children) for everything below the root, nearest first, each once."""
    seen = {id(identity(root))}
    waiting = [((), root)]
    while waiting:
        following = []
        for path, value in waiting:
            parts = children(value)
            yield path, value, parts
            for name, part in parts.items():
                if id(identity(part)) not in seen:
                    seen.add(id(identity(part)))
                    following.append(((*path, name), part))
        waiting = following
