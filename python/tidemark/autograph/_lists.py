"""Lists that grow while a graph runs.

    results = []
    for i in tf.range(n):         # staged: n is not known yet
        results.append(x + i)     # results becomes a StagedList
    return tf.stack(results)      # and one tensor at last

A StagedList is a list to its user; its elements lie in tensor arrays, one for each leaf when the
elements are tuples or dictionaries, and its length is a tensor.
"""

from __future__ import annotations

import tidemark as tf
from tidemark import nest
from tidemark.autograph import _staging


class ElementSpec:
    """The structure, dtypes and shapes that all elements of a list share; holds no tensor."""

    def __init__(self, structure, dtypes, shapes):
        self.structure = structure
        self.dtypes = dtypes
        self.shapes = shapes

    @classmethod
    def of(cls, element):
        leaves = [tf.convert_to_tensor(leaf) for leaf in nest.flatten(element)]
        skeleton = nest.map_structure(lambda _: None, element)
        return cls(skeleton, [leaf.dtype for leaf in leaves], [leaf.shape for leaf in leaves])

    def merged(self, other):
        """The specification that both fit; TypeError if there is none."""
        nest.assert_same_structure(self.structure, other.structure, check_types=False)
        for mine, given in zip(self.dtypes, other.dtypes, strict=True):
            if mine != given:
                raise TypeError(
                    f"the elements of a list that grows in a staged loop must have one dtype; it "
                    f"has {mine.name}, {given.name} was given; cast it with tf.cast"
                )
        shapes = [
            mine.most_specific_compatible_shape(given)
            for mine, given in zip(self.shapes, other.shapes, strict=True)
        ]
        return ElementSpec(self.structure, self.dtypes, shapes)

    def __repr__(self):
        parts = [
            f"{dtype.name}{shape}" for dtype, shape in zip(self.dtypes, self.shapes, strict=True)
        ]
        return ", ".join(parts)


def spec_of(elements):
    """The specification of all the elements; None if there is none."""
    spec = None
    for element in elements:
        given = ElementSpec.of(element)
        spec = given if spec is None else spec.merged(given)
    return spec


class StagedList:
    """A list whose length and elements the graph computes."""

    def __init__(self, spec, arrays, size, shorter=False, places_known=False):
        self._spec = spec
        self._arrays = arrays
        self._size = size  # an int32 scalar
        self._shorter = shorter  # whether the arrays may have more places than the list elements
        self.places_known = places_known  # the loop it grows in will fill exactly its places

    @classmethod
    def from_elements(cls, elements, spec=None, places=None):
        """A staged list of what a Python list holds.

        ``places`` is the length that it is known to reach, if it is.
        """
        for element in elements:
            given = ElementSpec.of(element)
            spec = given if spec is None else spec.merged(given)
        if spec is None:
            raise ValueError("the list is empty, so that the type of its elements is not known")
        arrays = [
            tf.TensorArray(
                dtype,
                size=len(elements) if places is None else places,
                dynamic_size=places is None,
                clear_after_read=False,
                element_shape=shape,
                infer_shape=shape.is_fully_defined(),
            )
            for dtype, shape in zip(spec.dtypes, spec.shapes, strict=True)
        ]
        made = cls(spec, arrays, tf.constant(0), places is not None, places is not None)
        for element in elements:
            made.append(element)
        return made

    spec = property(lambda self: self._spec)

    def __repr__(self):
        return f"<list of {self._spec!r}, grown in a staged loop>"

    # What a statement carries from one round, or branch, to the next.

    def parts(self):
        return [*self._arrays, self._size]

    def with_parts(self, parts):
        """The same list after its parts went through a statement."""
        return StagedList(self._spec, list(parts[:-1]), parts[-1], self._shorter, self.places_known)

    def absorb(self, other):
        """Takes over what another end of the same statement did to the list; True if it is new."""
        shorter = self._shorter or other._shorter
        known = self.places_known and other.places_known
        changed = (shorter, known) != (self._shorter, self.places_known)
        self._shorter, self.places_known = shorter, known
        return changed

    def filled(self):
        """The same list once it reached the length that was known beforehand."""
        return StagedList(self._spec, self._arrays, self._size)

    # What lists have.

    def append(self, element):
        given = ElementSpec.of(element)
        self._spec.merged(given)
        self._write(self._size, element)
        self._size = self._size + 1

    def extend(self, elements):
        if isinstance(elements, StagedList):
            raise NotImplementedError(
                "one list that grew in a staged loop cannot be added to another; stack both with "
                "tf.stack and join the tensors with tf.concat"
            )
        for element in elements:
            self.append(element)

    def __iadd__(self, elements):
        self.extend(elements)
        return self

    def __add__(self, elements):
        joined = self.copy()
        joined.extend(elements)
        return joined

    def copy(self):
        return self.with_parts(self.parts())

    def pop(self, index=-1):
        if not isinstance(index, int) or index != -1:
            raise NotImplementedError("only the last element of such a list can be popped")
        last = self[-1]
        self._size = self._size - 1
        self._shorter, self.places_known = True, False
        return last

    def _write(self, place, element):
        leaves = nest.flatten(element)
        self._arrays = [
            array.write(place, tf.convert_to_tensor(leaf))
            for array, leaf in zip(self._arrays, leaves, strict=True)
        ]

    def _place(self, index):
        if isinstance(index, int):
            return self._size + index if index < 0 else tf.constant(index)
        index = tf.cast(tf.convert_to_tensor(index), tf.int32)
        return tf.where(index < 0, index + self._size, index)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return nest.map_structure(lambda leaf: leaf[index], self.stack())
        place = self._place(index)
        return nest.pack_sequence_as(
            self._spec.structure, [array.read(place) for array in self._arrays]
        )

    def __setitem__(self, index, element):
        if isinstance(index, slice):
            raise NotImplementedError("a slice of a list that grew in a staged loop is fixed")
        self._spec.merged(ElementSpec.of(element))
        self._write(self._place(index), element)

    def length(self):
        """The number of elements, a tensor."""
        return self._size

    def __len__(self):
        raise TypeError(
            "the length of a list that grew in a staged loop is a tensor; outside of converted "
            "code, stack it and ask for tf.shape(...)[0]"
        )

    def __bool__(self):
        raise TypeError("whether a list that grew in a staged loop is empty is not known yet")

    def __iter__(self):
        raise TypeError(
            "a list that grew in a staged loop cannot be iterated in Python; use a for statement "
            "in converted code, or tf.stack it"
        )

    def stack(self, axis=0):
        """All elements as one tensor, or one structure of tensors."""
        stacked = [self._stacked(array) for array in self._arrays]
        if axis:
            stacked = [_moved(leaf, axis) for leaf in stacked]
        return nest.pack_sequence_as(self._spec.structure, stacked)

    def _stacked(self, array):
        return array._first(self._size) if self._shorter else array.stack()

    def concat(self):
        """The elements joined along their first axis."""
        leaves = [array.concat() for array in self._whole()._arrays]
        return nest.pack_sequence_as(self._spec.structure, leaves)

    def _whole(self):
        if not self._shorter:
            return self
        raise NotImplementedError("such a list can be joined after its loop only; stack it")

    def __tf_tensor__(self, dtype=None, name=None):
        stacked = self.stack()
        return stacked if dtype is None else tf.cast(stacked, dtype)


def _moved(tensor, axis):
    rank = tensor.shape.rank
    axis = axis + rank if axis < 0 else axis
    return tf.transpose(tensor, [*range(1, axis + 1), 0, *range(axis + 1, rank)])


# --- what converted code calls --------------------------------------------------------------------


def list_append(target, element):
    """``target.append(element)``; returns what the variable is from now on."""
    target.append(element)
    return target


def set_item(target, index, value):
    """``target[index] = value``; returns what the variable is from now on."""
    if isinstance(target, list) and _staging.is_staged(index):
        target = StagedList.from_elements(target)
    target[index] = value
    return target


def get_item(target, index):
    """``target[index]``; a Python list may be asked for an element that the graph chooses."""
    if isinstance(target, (list, tuple)) and _staging.is_staged(index):
        return StagedList.from_elements(list(target))[index]
    return target[index]


def stack(values, axis=0, name="stack"):
    """``tf.stack`` that takes lists grown in staged loops."""
    if isinstance(values, StagedList):
        return values.stack(axis)
    return tf.stack(values, axis=axis)


def concat(values, axis, name="concat"):
    """``tf.concat`` that takes lists grown in staged loops."""
    if not isinstance(values, StagedList):
        return tf.concat(values, axis)
    if axis != 0:
        raise NotImplementedError("a list that grew in a staged loop is joined along axis 0 only")
    return values.concat()
