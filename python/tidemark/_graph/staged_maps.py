"""``tf.map_fn``, ``tf.scan`` and folds over tensors as loops of the graph being built."""

from __future__ import annotations

import functools

from tidemark import dtypes, nest
from tidemark._graph.columns import column_of, row_spec
from tidemark._graph.control_flow import (
    _element_source,
    check_elements,
    is_ragged,
    is_sparse,
    sparse_row,
)
from tidemark._graph.staged import while_loop
from tidemark._graph.tracing import building
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.tensor_array import TensorArray
from tidemark._tidemark import Tensor, call
from tidemark.dtypes import as_dtype
from tidemark.ragged._row_partition import check_that


class Elements:
    """What a function goes over: elements along the first axis of all tensors of a structure."""

    def __init__(self, elems, function):
        self.structure = elems
        self.leaves = [_element_source(leaf) for leaf in nest.flatten(elems)]
        check_elements(self.leaves, function)
        self.count = None
        for leaf in self.leaves:
            known = None if leaf.shape.rank is None else leaf.shape.as_list()[0]
            if self.count is not None and known is not None and known != self.count:
                raise ValueError(
                    f"[{function}] elems differ in their number of elements: {self.count}, {known}"
                )
            self.count = known if self.count is None else self.count
        self.length = self.count
        if self.length is None:
            first = self.leaves[0]
            if is_ragged(first):
                length = first.nrows()
            else:
                sizes = first.dense_shape if is_sparse(first) else call("shape", (first,), {})
                length = sizes[0]
            self.length = call("cast", (length,), {"dtype": dtypes.int32})

    def at(self, index):
        """The elements at a place: views, as nobody writes to what they are taken from."""
        rows = [
            sparse_row(leaf, index) if is_sparse(leaf)
            else ragged_row(leaf, index) if is_ragged(leaf)
            else call("array_read", (leaf, index), {"share": True})
            for leaf in self.leaves
        ]  # fmt: skip
        return nest.pack_sequence_as(self.structure, rows)


def ragged_row(value, index):
    """A row of a ragged tensor whose place is known when the graph runs."""
    splits = value.row_splits
    return _rows_between(value.values, splits[index], splits[index + 1])


def _rows_between(value, begin, end):
    """Rows of a tensor, ragged or not, whose places are known when the graph runs."""
    if not is_ragged(value):
        return value[begin:end]
    splits = value.row_splits[begin : end + 1]
    inside = _rows_between(value.values, splits[0], splits[-1])
    return value.from_row_splits(inside, splits - splits[0], validate=False)


def _new_array(dtype, length, shape=None):
    return TensorArray(as_dtype(dtype), size=length, element_shape=shape)


def _counted(length, body, variables):
    """Calls ``body(i, *variables)`` for i in [0, length); its results replace the variables."""

    def round_of(index, *values):
        return (index + 1, *body(index, *values))

    start = (convert_to_tensor(0), *variables)
    return while_loop(lambda index, *_: index < length, round_of, start, None, length)[1:]


def _written(arrays, place, values):
    return tuple(array.write(place, v) for array, v in zip(arrays, values, strict=True))


def _stacked(structure, arrays, count):
    stacked = []
    for array in arrays:
        value = array.stack()
        if count is not None and value.shape.rank is not None:
            value.set_shape([count, *value.shape.as_list()[1:]])
        stacked.append(value)
    return nest.pack_sequence_as(structure, stacked)


def map_fn(fn, elems, signature, check_row):
    """``fn`` of every element, stacked; the signature tells what it returns, or elems does."""
    elements = Elements(elems, "map_fn")
    structure = elems if signature is None else signature
    kinds = map(row_spec, elements.leaves) if signature is None else nest.flatten(signature)
    columns = [column_of(kind) for kind in kinds]
    arrays = [column.arrays(elements.length) for column in columns]
    packing = nest.map_structure(lambda _: None, arrays)

    def body(index, *arrays):
        result = fn(elements.at(index))
        nest.assert_same_structure(structure, result)
        row = [_element_source(leaf) for leaf in nest.flatten(result)]
        check_row(row, elems, elements.leaves, signature)
        written = zip(columns, nest.pack_sequence_as(packing, arrays), row, strict=True)
        return nest.flatten([column.write(places, index, leaf) for column, places, leaf in written])

    after = nest.pack_sequence_as(packing, _counted(elements.length, body, nest.flatten(arrays)))
    pairs = zip(columns, after, strict=True)
    results = [column.result(places, elements.count) for column, places in pairs]
    return nest.pack_sequence_as(structure, results)


def vectorized_map(fn, elems):
    """``fn`` of every element, stacked; of tensors with one element, that one each time."""
    leaves = [convert_to_tensor(leaf) for leaf in nest.flatten(elems)]
    count, lasts = _rounds(leaves)

    def at(index):
        picked = []
        for leaf, last in zip(leaves, lasts, strict=True):
            place = index if last is None else call("minimum", (index, last), {})
            picked.append(call("array_read", (leaf, place), {"share": True}))
        return nest.pack_sequence_as(elems, picked)

    # What it returns is told by a trial in a graph that is thrown away.
    with building("trial"):
        trial = fn(at(convert_to_tensor(0)))
        kinds = [convert_to_tensor(leaf) for leaf in nest.flatten(trial)]
        kinds = [(kind.dtype, kind.shape) for kind in kinds]
        structure = nest.map_structure(lambda _: None, trial)
    arrays = tuple(_new_array(dtype, count, shape) for dtype, shape in kinds)

    def body(index, *arrays):
        row = [convert_to_tensor(leaf) for leaf in nest.flatten(fn(at(index)))]
        return _written(arrays, index, row)

    known = count if isinstance(count, int) else None
    return _stacked(structure, _counted(count, body, arrays), known)


def _rounds(leaves):
    """How many rounds there are, an int if that is known, and for each tensor its last place where
    it may have one element, which is that of all rounds; else None."""
    known = [None if leaf.shape.rank is None else leaf.shape.as_list()[0] for leaf in leaves]
    longer = {count for count in known if count not in (None, 1)}
    if len(longer) > 1:
        raise ValueError(f"elems differ in their number of elements: {sorted(longer)}")
    if len(leaves) == 1:
        return Elements(leaves, "vectorized_map").length, [None]
    sizes, lasts = [], []
    for leaf, size in zip(leaves, known, strict=True):
        sizes.append(call("shape", (leaf,), {})[0] if size is None else size)
        lasts.append(sizes[-1] - 1 if size is None else 0 if size == 1 else None)
    if longer or None not in known:
        count = longer.pop() if longer else 1
    else:
        count = functools.reduce(lambda a, b: call("maximum", (a, b), {}), sizes)
    for last in lasts:
        if isinstance(last, Tensor):
            fits = call("logical_or", (last == 0, last == count - 1), {})
            check_that(fits, "[vectorized_map] elems differ in their number of elements")
    return count, lasts


class _Fold:
    """A fold's elements, first value and order."""

    def __init__(self, elems, initializer, function, reverse):
        self.elements = Elements(elems, function)
        self.reverse = reverse
        self.skipped = 1 if initializer is None else 0
        if initializer is None:
            value = self.elements.at(self.place(0))
        else:
            value = nest.map_structure(convert_to_tensor, initializer)
        self.structure = nest.map_structure(lambda _: None, value)
        self.first = tuple(nest.flatten(value))

    def place(self, round_number):
        """Where the element of a round lies."""
        return self.elements.length - 1 - round_number if self.reverse else round_number

    def next(self, fn, place, values):
        value = nest.pack_sequence_as(self.structure, list(values))
        result = fn(value, self.elements.at(place))
        nest.assert_same_structure(self.structure, result, check_types=False)
        return [convert_to_tensor(leaf) for leaf in nest.flatten(result)]


def fold(fn, elems, initializer, function, reverse):
    """The last value of a fold."""
    state = _Fold(elems, initializer, function, reverse)

    def body(index, *values):
        return state.next(fn, state.place(index + state.skipped), values)

    rounds = state.elements.length - state.skipped
    return nest.pack_sequence_as(state.structure, list(_counted(rounds, body, state.first)))


def scan(fn, elems, initializer, reverse):
    """All values of a fold, stacked in the order of the elements."""
    state = _Fold(elems, initializer, "scan", reverse)
    length, width = state.elements.length, len(state.first)
    arrays = tuple(_new_array(value.dtype, length, value.shape) for value in state.first)
    if state.skipped:
        arrays = _written(arrays, state.place(0), state.first)

    def body(index, *variables):
        place = state.place(index + state.skipped)
        values = state.next(fn, place, variables[:width])
        return (*values, *_written(variables[width:], place, values))

    after = _counted(length - state.skipped, body, (*state.first, *arrays))
    return _stacked(state.structure, after[width:], state.elements.count)
