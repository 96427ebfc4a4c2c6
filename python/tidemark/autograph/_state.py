"""The values of the variables that a staged statement assigns.

A value is split into tensors, which go through the graph, and the rest, which stays Python's: the
structure, None, and objects that are no tensors and must stay what they are.
"""

from __future__ import annotations

import re

import numpy as np

import tidemark as tf
from tidemark import nest
from tidemark._tensor.specs import CompositeTensor
from tidemark._tidemark import Tensor
from tidemark.autograph._lists import StagedList
from tidemark.autograph._staging import is_variable
from tidemark.autograph._variables import is_undefined

_NUMBERS = (bool, int, float, complex, str, bytes, np.generic, np.ndarray)
_FLAG = re.compile(r"(do_return|break_|continue_)(_\d+)?$")  # made by the conversion
_RETURN_VALUE = re.compile(r"retval_(_\d+)?$")


class Restage(BaseException):
    """Raised out of a statement that is being built, to build it again with what was learnt.

    No error, so that nobody between takes it for one.
    """


def is_flag(name):
    """Whether the variable says that a return, break or continue was met."""
    return _FLAG.match(name) is not None


def is_return_value(name):
    """Whether the variable holds what the function is to return."""
    return _RETURN_VALUE.match(name) is not None


def is_dynamic(leaf):
    """Whether a leaf goes through the graph."""
    if isinstance(leaf, (Tensor, *_NUMBERS)) or is_opaque(leaf):
        return True
    # An object that says what tensor it is; a variable is more than its value.
    is_own = isinstance(leaf, StagedList) or is_variable(leaf)
    return hasattr(type(leaf), "__tf_tensor__") and not is_own


def is_opaque(leaf):
    """Whether a leaf goes through the graph as it is, a tensor array or a composite tensor."""
    return hasattr(leaf, "_is_tensor_array") or isinstance(leaf, CompositeTensor)


def as_tensor(leaf):
    """What goes through the graph for a leaf."""
    return leaf if is_opaque(leaf) else tf.convert_to_tensor(leaf)


class Split:
    """One value, taken apart."""

    __slots__ = ("tensors", "_structure", "_plan")

    def __init__(self, value):
        self.tensors = []
        self._structure = value
        self._plan = []  # for each leaf: what it is made again from, and how many tensors it takes
        for leaf in nest.flatten(value):
            if isinstance(leaf, StagedList):
                self._plan.append((leaf, len(leaf.parts())))
                self.tensors.extend(leaf.parts())
            elif is_dynamic(leaf):
                self._plan.append((None, 1))
                self.tensors.append(as_tensor(leaf))
            else:
                self._plan.append((leaf, 0))

    def rebuilt(self, tensors):
        """The value with other tensors; structures are new objects, so that they may change."""
        leaves, at = [], 0
        for leaf, count in self._plan:
            if count == 0:
                leaves.append(leaf)
            elif isinstance(leaf, StagedList):
                leaves.append(leaf.with_parts(tensors[at : at + count]))
            else:
                leaves.append(tensors[at])
            at += count
        return nest.pack_sequence_as(self._structure, leaves)


class State:
    """All variables of a statement."""

    def __init__(self, values):
        self._splits = [Split(value) for value in values]
        self.tensors = [tensor for split in self._splits for tensor in split.tensors]

    def rebuilt(self, tensors):
        values, at = [], 0
        for split in self._splits:
            count = len(split.tensors)
            values.append(split.rebuilt(list(tensors[at : at + count])))
            at += count
        return tuple(values)


def copied(values):
    """The values in new structures: what a branch appends to a list must not reach the other."""
    return tuple(_copy(value) for value in values)


def _copy(value):
    if isinstance(value, StagedList):
        return value.copy()
    if not isinstance(value, (list, dict)):  # others cannot change
        return value
    return nest.map_structure(lambda leaf: leaf, value)


def grew(before, after):
    """Whether a Python list became longer, so that it needs to be a staged list."""
    if not isinstance(before, list):
        return False
    return isinstance(after, StagedList) or (isinstance(after, list) and len(after) > len(before))


def is_replaced(before, after):
    """Whether a tf.Variable is at the end a tensor: from the start its value is what is meant."""
    kept, given = nest.flatten(before), nest.flatten(after)
    if len(kept) != len(given):
        return False
    return any(is_variable(k) and is_dynamic(g) for k, g in zip(kept, given, strict=True))


def with_read_variables(value):
    """The value with the contents of each tf.Variable in its place, as they are now."""
    return nest.map_structure(lambda x: as_tensor(x) if is_variable(x) else x, value)


# --- what is wrong with a variable ----------------------------------------------------------------


def leaf_pairs(first, second):
    """The leaves of two values of the same structure, pair by pair."""
    return zip(nest.flatten(first), nest.flatten(second), strict=True)


class _Dot:
    """A leaf in the text of an error, whatever it is."""

    def __repr__(self):
        return "."


def _skeleton(value):
    return nest.map_structure(lambda _: _Dot(), value)


def check_same_structure(name, first, second, message):
    try:
        nest.assert_same_structure(_skeleton(first), _skeleton(second))
    except (TypeError, ValueError) as error:
        raise TypeError(f"'{name}' {message}\n\n{error}") from None


def wider_shape(shape, other):
    """Whether every tensor of the other shape is one of the first shape."""
    if shape.rank is None:
        return True
    if other.rank != shape.rank:
        return False
    pairs = zip(shape.as_list(), other.as_list(), strict=True)
    return all(mine is None or mine == given for mine, given in pairs)


def type_mismatch(first, second):
    """How the types of two leaves differ, as two texts; None where they do not."""
    if is_dynamic(first) != is_dynamic(second):
        return _kind(first), _kind(second)
    if not is_dynamic(first):
        same = first is second or (isinstance(first, StagedList) and isinstance(second, StagedList))
        return None if same or _equal(first, second) else (_kind(first), _kind(second))
    if is_opaque(first) or is_opaque(second):
        return None if type(first) is type(second) else (_kind(first), _kind(second))
    first, second = as_tensor(first), as_tensor(second)
    if first.dtype == second.dtype:
        return None
    return f"dtype {first.dtype.name}", f"dtype {second.dtype.name}"


def _equal(first, second):
    if is_undefined(first) and is_undefined(second):
        return True
    try:
        return type(first) is type(second) and bool(first == second)
    except Exception:  # a comparison of the user's own that fails is no equality
        return False


def _kind(leaf):
    if leaf is None:
        return "value None"
    if is_dynamic(leaf) and not is_opaque(leaf):
        return f"dtype {as_tensor(leaf).dtype.name}"
    if isinstance(leaf, StagedList):
        return "a list that grew"
    return f"the Python object {_short(leaf)}"


def _short(value):
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def described(tensor):
    """A tensor in the text of an error, known or not."""
    return f"a {tensor.dtype.name} tensor of shape {tensor.shape}"


def placeholder(value):
    """A value of the same structure and types that nobody will read: zeros."""
    return nest.map_structure(_zeros, value)


def _zeros(leaf):
    if isinstance(leaf, StagedList):
        return StagedList.from_elements([], leaf.spec)
    if hasattr(leaf, "_is_tensor_array"):
        return tf.TensorArray(
            leaf.dtype, size=0, dynamic_size=True, infer_shape=leaf._infer_shape,
            element_shape=leaf.element_shape,
        )  # fmt: skip
    if isinstance(leaf, CompositeTensor):
        raise TypeError(
            f"a {type(leaf).__name__} must be assigned before the loop that assigns it, or in both "
            "branches of the condition"
        )
    if not is_dynamic(leaf):
        return leaf
    leaf = as_tensor(leaf)
    if leaf.shape.rank is None:
        return tf.zeros([], leaf.dtype)
    return tf.zeros([dimension or 0 for dimension in leaf.shape.as_list()], leaf.dtype)
