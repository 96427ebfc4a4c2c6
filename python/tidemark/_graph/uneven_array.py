"""``tf.TensorArray`` in a graph whose elements may differ in shape (``infer_shape=False``).

Two tensors flow through the graph: the numbers of all elements one after the other, in the order in
which they were written, and a table with a row for each place: where its numbers begin, one more
than its rank (0: nothing was written), and its sizes.
"""

from __future__ import annotations

from tidemark import _tidemark, dtypes
from tidemark._graph.staged_array import StagedTensorArray, _static
from tidemark._tensor.creation import cast, convert_to_tensor, fill
from tidemark._tensor.tensor_array import EagerTensorArray, zero_of
from tidemark._tidemark import call, is_symbolic
from tidemark.ragged._row_partition import check_that
from tidemark.tensor_shape import TensorShape

_MOST_SIZES = 8
_WIDTH = 2 + _MOST_SIZES
_INT64 = dtypes.int64._enum


def _int64(value):
    return cast(convert_to_tensor(value), dtypes.int64)


def _shape(tensor):
    return call("shape", (tensor,), {"out_type": _INT64})


def _flat(tensor):
    return call("reshape", (tensor, [-1]), {})


def _joined(parts):
    return call("concat", (parts,), {"axis": 0})


def _row(begin, sizes):
    """The row of the table for an element of these sizes."""
    rank = call("size", (sizes,), {"out_type": _INT64})
    after = call("reshape", (_MOST_SIZES - rank, [1]), {})
    padding = call("expand_dims", (_joined([_int64([0]), after]),), {"axis": 0})
    head = call("stack", ([begin, rank + 1],), {"axis": 0})
    return _joined([head, call("pad", (sizes, padding, _int64(0)), {})])


class UnevenTensorArray(StagedTensorArray):
    """An array that flows through conditions and loops; ``write`` returns the next one."""

    def _make_places(self, size):
        self._rows = None if self._dynamic_size else _static(size)
        self._values = call("fill", ([0], zero_of(self._dtype)), {})
        self._table = fill(call("stack", ([_int64(size), _int64(_WIDTH)],), {"axis": 0}), _int64(0))

    @classmethod
    def over(cls, spec, values, table):
        """An array of this type with these contents."""
        made = object.__new__(cls)
        made._dtype, made._dynamic_size = spec._dtype, spec._dynamic_size
        made._infer_shape, made._element_shape = False, spec._element_shape
        made._rows, made._values, made._table = spec._rows, values, table
        # After a loop nothing is known of the shapes of the two, but this.
        values.set_shape([None])
        table.set_shape([spec._rows, _WIDTH])
        return made

    flow = property(lambda self: self._table)

    def _parts(self):
        return [self._values, self._table]

    def _with(self, values, table):
        spec = self._type_spec
        spec._rows = self._rows
        return self.over(spec, values, table)

    def _end(self):
        return call("size", (self._values,), {"out_type": _INT64})

    def _size(self):
        if self._rows is not None:
            return convert_to_tensor(self._rows)
        return call("shape", (self._table,), {})[0]

    def _identity(self):
        return self._with(self._values, self._table)

    def _write(self, index, value):
        value = self._checked(value)
        self._check_element(value.shape)
        row = _row(self._end(), _shape(value))
        options = {"dynamic_size": self._dynamic_size}
        table = call("array_write", (self._table, index, row), options)
        return self._with(_joined([self._values, _flat(value)]), table)

    def _read(self, index):
        row = call("gather", (self._table, index), {})
        check_that(row[1] > 0, "Could not read from a TensorArray index before it was written")
        sizes = call("slice", (row, [2], call("reshape", (row[1] - 1, [1]), {})), {})
        count = call("prod", (sizes,), {})
        places = call("range", (_int64(0), count, _int64(1)), {}) + row[0]
        found = call("reshape", (call("gather", (self._values, places), {}), sizes), {})
        found.set_shape(self._element_shape)
        return found

    def _stacked(self, table):
        """The elements of these rows of the table, which must be of one shape, as one tensor."""
        written = call("all", (table[:, 1] > 0,), {})
        check_that(written, "Could not stack a TensorArray: not all of its elements were written")
        first = table[0]
        alike = call("all", (table[:, 1:] == first[1:],), {})
        check_that(
            alike,
            "Could not stack a TensorArray whose elements differ in shape; concat joins them along "
            "their first axis, read gives one",
        )
        sizes = call("slice", (first, [2], call("reshape", (first[1] - 1, [1]), {})), {})
        step = call("range", (_int64(0), call("prod", (sizes,), {}), _int64(1)), {})
        places = table[:, :1] + call("expand_dims", (step,), {"axis": 0})
        shape = _joined([_shape(table)[:1], sizes])
        found = call("reshape", (call("gather", (self._values, places), {}), shape), {})
        found.set_shape(TensorShape([None]).concatenate(self._element_shape))
        return found

    def _stack(self):
        return self._with_known_rows(self._stacked(self._table))

    def _gather(self, indices):
        return self._stacked(call("gather", (self._table, indices), {}))

    def _first(self, count):
        return self.gather(call("range", (0, count, 1), {}))

    def _unwritten(self):
        """A row for an element of the announced shape; it tells what an array of none has."""
        shape = self._element_shape
        sizes = [0] if shape is None or not shape.rank else [size or 0 for size in shape.as_list()]
        return call("expand_dims", (_row(_int64(0), _int64(sizes)),), {"axis": 0})

    def _concat(self):
        table = self._table
        check_that(call("all", (table[:, 1] > 1,), {}),
                   "Could not concat a TensorArray: all elements must have been written and have "
                   "a first axis")  # fmt: skip
        first = _joined([table, self._unwritten()])[0]
        inner = table[:, 3:]
        check_that(call("all", (inner == first[3:],), {}),
                   "Could not concat a TensorArray whose elements differ in more than the size of "
                   "their first axis")  # fmt: skip
        rest = call("slice", (first, [3], call("reshape", (first[1] - 2, [1]), {})), {})
        counts = table[:, 2] * call("prod", (rest,), {})
        starts = call("cumsum", (counts,), {"axis": 0}) - counts
        steps = call("range", (_int64(0), call("sum", (counts,), {}), _int64(1)), {})
        places = steps + call("repeat", (table[:, 0] - starts, counts), {"axis": 0})
        shape = _joined([_int64([-1]), rest])
        return call("reshape", (call("gather", (self._values, places), {}), shape), {})

    def _split(self, value, lengths):
        value, lengths = self._checked(value), _int64(lengths)
        sizes = _shape(value)
        total = call("sum", (lengths,), {})
        check_that(total == sizes[0], "[TensorArray.split] the lengths must add up to the size of "
                   "the first axis of the value")  # fmt: skip
        width = call("prod", (sizes[1:],), {})
        begins = (call("cumsum", (lengths,), {"axis": 0}) - lengths) * width
        return self._filled(value, begins, lengths, sizes[1:])

    def _unstack(self, value):
        value = self._checked(value)
        self._check_element(value.shape[1:])
        return self._filled(value, *self._rows_of(value))

    def _rows_of(self, value):
        """(where each begins, None, its sizes) of the elements along the first axis."""
        sizes = _shape(value)
        steps = call("range", (_int64(0), sizes[0], _int64(1)), {})
        return steps * call("prod", (sizes[1:],), {}), None, sizes[1:]

    def _filled(self, value, begins, lengths, rest):
        table = self._made_table(begins, lengths, rest)
        spec = self._type_spec
        spec._rows = None if self._dynamic_size else table.shape[0]
        return self.over(spec, _flat(value), table)

    def _made_table(self, begins, lengths, rest):
        """A row for each beginning; the sizes are ``rest``, after a length of its own if any."""
        blank = _row(_int64(0), rest if lengths is None else _joined([_int64([0]), rest]))
        columns = call("expand_dims", (begins,), {"axis": 1})
        count = call("reshape", (call("size", (begins,), {}), [1]), {})
        shape = _joined([count, convert_to_tensor([_WIDTH])])
        table = call("broadcast_to", (blank, shape), {})
        if lengths is None:
            return _joined_columns([columns, table[:, 1:]])
        lengths = call("expand_dims", (lengths,), {"axis": 1})
        return _joined_columns([columns, table[:, 1:2], lengths, table[:, 3:]])

    def _scatter(self, indices, value):
        value, indices = self._checked(value), convert_to_tensor(indices)
        self._check_element(value.shape[1:])
        begins, _, rest = self._rows_of(value)
        rows = self._made_table(begins + self._end(), None, rest)
        table = self._table
        if self._dynamic_size:
            last = cast(call("max", (indices,), {}) + 1, dtypes.int32)
            count = call("maximum", (last, self.size()), {})
            table = call("array_resize", (table, count), {"element_shape": [_WIDTH]})
        places = call("expand_dims", (indices,), {"axis": -1})
        table = call("tensor_scatter_nd_update", (table, places, rows), {})
        return self._with(_joined([self._values, _flat(value)]), table)


def _joined_columns(parts):
    return call("concat", (parts,), {"axis": 1})


def parts_of(array):
    """The two tensors of an array that was filled eagerly."""
    values, rows = [call("fill", ([0], zero_of(array._dtype)), {})], []
    begin = 0
    for tensor in array._tensors:
        if tensor is None:
            rows.append([0] * _WIDTH)
            continue
        sizes = tensor.shape.as_list()
        blank = [0] * (_MOST_SIZES - len(sizes))
        rows.append([begin, len(sizes) + 1, *sizes, *blank])
        values.append(_flat(tensor))
        begin += tensor.shape.num_elements()
    table = call("reshape", (_int64(rows), [len(rows), _WIDTH]), {})
    return [_joined(values), table]


def array_of(spec, values, table):
    """The array of two tensors; a staged one if they are symbolic."""
    if is_symbolic(values) or is_symbolic(table):
        return UnevenTensorArray.over(spec, values, table)
    made = EagerTensorArray(
        spec._dtype, size=table.shape[0], dynamic_size=spec._dynamic_size, infer_shape=False,
        element_shape=spec._element_shape,
    )  # fmt: skip
    for at, (begin, rank, *sizes) in enumerate(table.numpy().tolist()):
        if rank:
            count = _tidemark.convert(sizes[: rank - 1], _INT64)
            end = begin + int(call("prod", (count,), {}))
            made.write(at, call("reshape", (values[begin:end], sizes[: rank - 1]), {}))
    return made
