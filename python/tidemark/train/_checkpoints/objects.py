"""What an object is made of, as checkpoints see it."""

from __future__ import annotations

from collections.abc import Mapping

from tidemark import _tidemark
from tidemark._tensor.creation import convert_to_tensor
from tidemark._trackable.module import Module
from tidemark._trackable.tracking import Trackable

VALUE = "VARIABLE_VALUE"
_HIDDEN = ("_self_", "_name_scope", "_tf_names")


def _is_keras_variable(value):
    return hasattr(value, "_value") and hasattr(value, "_initializer") and hasattr(value, "value")


def is_variable(value):
    """A tf.Variable, or one of Keras's that has its value already."""
    if isinstance(value, _tidemark.VariableBase):
        return True
    return _is_keras_variable(value) and isinstance(value._value, _tidemark.VariableBase)


def identity(value):
    """The object that counts: a Keras variable and the tf.Variable it holds are one."""
    return value._value if is_variable(value) and _is_keras_variable(value) else value


def saveable_state(value):
    """name → (how to get a tensor of the state), for things with state of their own."""
    if is_variable(value):
        return {VALUE: identity(value).value}
    if _is_iterator(value):
        return {"ITERATOR_STATE": lambda: convert_to_tensor(value.save())}
    if hasattr(value, "serialize") and hasattr(value, "deserialize") and _is_python_state(value):
        return {"PYTHON_STATE": lambda: convert_to_tensor(value.serialize())}
    if _is_mutable_table(value):
        return {
            "keys": lambda: value.export()[0],
            "values": lambda: value.export()[1],
        }
    return {}


def restore_state(value, tensors):
    """Gives a thing its state again."""
    if is_variable(value):
        identity(value).assign(tensors[VALUE])
    elif _is_iterator(value):
        value.restore(tensors["ITERATOR_STATE"].numpy())
    elif _is_mutable_table(value):
        value._table.clear()
        value.insert(tensors["keys"], tensors["values"])
    else:
        value.deserialize(tensors["PYTHON_STATE"].numpy())


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


def children(value):
    """The parts of an object by name."""
    if is_variable(value) or saveable_state(value):
        return {}
    if isinstance(value, (list, tuple)):
        return {str(at): part for at, part in enumerate(value) if is_part(part)}
    if isinstance(value, Mapping):
        return {str(name): part for name, part in value.items() if is_part(part)}
    if hasattr(value, "_checkpoint_parts"):
        return value._checkpoint_parts()
    found = {}
    if isinstance(value, Trackable):
        found.update(value._trackable_children())
    hidden = vars(value).get("_self_untracked", ())
    for name, part in vars(value).items():
        if name.startswith(_HIDDEN) or name in hidden or name in found:
            continue
        if is_part(part):
            found[name] = part
    return found


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
