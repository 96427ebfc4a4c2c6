"""``tf.experimental.RowPartition``: how a sequence of values is cut into rows."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.scopes import control_dependencies
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.specs import CompositeTensor
from tidemark._tidemark import Tensor, call, convert, is_symbolic, static_value
from tidemark.debugging._checks import _require
from tidemark.errors import InvalidArgumentError


@export("tf.experimental.RowPartition")
class RowPartition(CompositeTensor):
    """Row i holds the values from ``row_splits[i]`` up to ``row_splits[i + 1]``."""

    def __init__(self, row_splits, uniform_row_length=None):
        self._row_splits = row_splits
        self._uniform = uniform_row_length

    # --- from any way to say it ------------------------------------------------------------------

    @classmethod
    def from_row_splits(cls, row_splits, validate=True, dtype=None, dtype_hint=None):
        """By where each row begins, and where the last one ends."""
        splits = as_splits(row_splits, dtype)
        if not validate:
            return cls(splits)
        if splits.shape[0] == 0:
            message = "row_splits tensor may not be empty"
            if is_symbolic(splits) or isinstance(row_splits, (list, tuple)):
                raise ValueError(message)
            raise InvalidArgumentError(None, None, message)
        starts = check_that(splits[0] == 0, "Arguments to from_row_splits do not form a valid "
                            "RaggedTensor: row_splits must start with 0")  # fmt: skip
        rises = check_that(
            call("all", (splits[1:] >= splits[:-1],), {}),
            "Arguments to from_row_splits do not form a valid RaggedTensor: row_splits must not "
            "fall",
        )
        return cls(after(splits, starts, rises))

    @classmethod
    def from_row_lengths(cls, row_lengths, validate=True, dtype=None, dtype_hint=None):
        """By how many values each row has."""
        lengths = as_splits(row_lengths, dtype)
        if validate:
            lengths = after(lengths, check_that(call("all", (lengths >= 0,), {}),
                                                "row_lengths must be non-negative"))  # fmt: skip
        return cls(call("pad", (call("cumsum", (lengths,), {"axis": 0}), [[1, 0]], 0), {}))

    @classmethod
    def from_value_rowids(cls, value_rowids, nrows=None, validate=True, dtype=None,
                          dtype_hint=None):  # fmt: skip
        """By the row of each value."""
        rowids = as_splits(value_rowids, dtype)
        if nrows is None:
            nrows = rowids[-1] + 1 if rowids.shape[0] != 0 else 0
        if not is_symbolic(nrows):
            if not isinstance(nrows, int) and convert_to_tensor(nrows).shape.rank not in (None, 0):
                raise ValueError(f"nrows must be a scalar, got {nrows}")
            nrows = int(nrows)
            if validate and nrows < 0:
                raise ValueError(f"Expected nrows >= 0; got {nrows}")
        if validate:
            last = static_value(rowids[-1]) if rowids.shape[0] else None
            if last is not None and not is_symbolic(nrows) and int(last) >= nrows:
                raise ValueError(
                    f"Expected nrows >= value_rowids[-1] + 1; got nrows={nrows}, "
                    f"value_rowids[-1]={int(last)}"
                )
            counts = check_that(nrows >= 0, "nrows must be non-negative")
            rises = check_that(call("all", (rowids[1:] >= rowids[:-1],), {}),
                               "value_rowids must not fall")  # fmt: skip
            fits = call("logical_and", (rowids >= 0, rowids < _count(nrows, rowids.dtype)), {})
            inside = check_that(call("all", (fits,), {}), f"value_rowids must be in [0, {nrows})")
            rowids = after(rowids, counts, rises, inside)
        ones = call("ones_like", (rowids,), {"dtype": None})
        lengths = call("unsorted_segment_sum", (ones, rowids, nrows), {})
        return cls.from_row_lengths(lengths, validate=False)

    @classmethod
    def from_row_starts(cls, row_starts, nvals, validate=True, dtype=None, dtype_hint=None):
        """By where each row begins, and the number of values."""
        starts = as_splits(row_starts, dtype)
        end = call("reshape", (_count(nvals, starts.dtype), (1,)), {})
        return cls.from_row_splits(call("concat", ([starts, end],), {"axis": 0}), validate)

    @classmethod
    def from_row_limits(cls, row_limits, validate=True, dtype=None, dtype_hint=None):
        """By where each row ends."""
        limits = as_splits(row_limits, dtype)
        return cls.from_row_splits(call("pad", (limits, [[1, 0]], 0), {}), validate)

    @classmethod
    def from_uniform_row_length(cls, uniform_row_length, nvals=None, nrows=None, validate=True,
                                dtype=None, dtype_hint=None):  # fmt: skip
        """Rows of one length."""
        known = not is_symbolic(uniform_row_length)
        if convert_to_tensor(uniform_row_length).shape.rank not in (None, 0):
            raise ValueError(f"uniform_row_length must be a scalar, got {uniform_row_length}")
        if known and int(uniform_row_length) < 0:
            raise ValueError(f"uniform_row_length must be at least 0, got {uniform_row_length}")
        length = int(uniform_row_length) if known else uniform_row_length
        if nrows is None:
            if known and not length and not is_symbolic(nvals) and nvals:
                raise ValueError("nrows must be given when uniform_row_length is 0")
            nrows = nvals // length if not known or length else 0
        if not is_symbolic(nrows):
            nrows = int(nrows)
        number = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
        if validate and nvals is not None:
            text = f"{nvals} values do not form rows of length {length}"
            fills = _count(nrows, number) * _count(length, number) == _count(nvals, number)
            checks = [check_that(fills, text), None if known else check_that(length >= 0, text)]
            nrows = after(nrows, *checks)
        steps = call("range", (convert(0, number._enum), _count(nrows, number) + 1, 1), {})
        return cls(steps * _count(length, number), length if known else None)

    # --- what it says ----------------------------------------------------------------------------

    dtype = property(lambda self: self._row_splits.dtype)

    @property
    def static_nrows(self):
        size = self._row_splits.shape[0]
        return None if size is None else size - 1

    @property
    def static_nvals(self):
        count = self.nvals()
        if is_symbolic(count):
            count = static_value(count)
            if count is None and None not in (self._uniform, self.static_nrows):
                count = self._uniform * self.static_nrows
        return None if count is None else int(count)

    static_uniform_row_length = property(lambda self: self._uniform)

    @property
    def uniform_row_length(self):
        """The length of all rows as a tensor, if it is known to be one."""
        return None if self._uniform is None else convert(self._uniform, self.dtype._enum)

    def row_splits(self):
        return self._row_splits

    def row_starts(self):
        return self._row_splits[:-1]

    def row_limits(self):
        return self._row_splits[1:]

    def row_lengths(self):
        return self._row_splits[1:] - self._row_splits[:-1]

    def nrows(self):
        count = call("size", (self._row_splits,), {"out_type": self.dtype._enum})
        return count - 1

    def nvals(self):
        return self._row_splits[-1]

    def is_uniform(self):
        return self._uniform is not None

    def value_rowids(self):
        """The row of each value."""
        rows = call("range", (convert(0, self.dtype._enum), self.nrows(), 1), {})
        return call("repeat", (rows, self.row_lengths()), {"axis": 0})

    def offsets_in_rows(self):
        """The position of each value in its row."""
        steps = call("range", (convert(0, self.dtype._enum), self.nvals(), 1), {})
        return steps - call("gather", (self.row_starts(), self.value_rowids()), {"axis": 0})

    def with_dtype(self, dtype):
        return RowPartition(cast(self._row_splits, dtype), self._uniform)

    def with_sizes(self, nrows, row_length):
        """The same rows, of which more is known; a size that is None says nothing."""
        splits = self._row_splits
        if nrows is not None and splits.shape[0] != nrows + 1:
            if splits.shape[0] is not None:
                raise ValueError(f"Inconsistent size: {splits.shape[0] - 1} rows cannot be {nrows}")
            splits.set_shape([nrows + 1])
        if row_length is None or self._uniform == row_length:
            return self
        if self._uniform is not None:
            raise ValueError(
                f"Inconsistent size: rows of length {self._uniform} cannot have {row_length}"
            )
        return RowPartition(splits, row_length)

    def after(self, check):
        """The same rows, once an operation of the graph has run that checks them."""
        return RowPartition(after(self._row_splits, check), self._uniform)

    def __repr__(self):
        if self._uniform is not None:
            parts = f"nrows={self.static_nrows}, uniform_row_length={self._uniform}"
            return f"tf.RowPartition({parts})"
        return f"tf.RowPartition(row_splits={self._row_splits})"


def as_splits(value, dtype=None):
    """Integers as int64, or as int32 where they are that already."""
    if not isinstance(value, Tensor) and dtype is None:
        array = convert_to_tensor(value)
        wide = array.dtype.is_integer or array.shape.num_elements() == 0
        if not wide:
            raise ValueError(f"row partitions are integers, got {array.dtype.name}: {value}")
        if array.shape.rank != 1:
            raise ValueError(f"row partitions have one dimension, got shape {array.shape}")
        return cast(array, dtypes.int64) if not _is_int32_array(value) else array
    tensor = convert_to_tensor(value)
    if tensor.shape.rank is None:
        rank = call("rank", (tensor,), {})
        tensor = after(tensor, check_that(rank == 1, "row partitions have one dimension"))
        tensor.set_shape([None])
    if tensor.shape.rank != 1:
        raise ValueError(f"row partitions have one dimension, got shape {tensor.shape}")
    if dtype is not None:
        return cast(tensor, dtype)
    if tensor.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"row partitions are int32 or int64, got {tensor.dtype.name}")
    return tensor


def _is_int32_array(value):
    return str(getattr(value, "dtype", "")) == "int32"


def _count(number, dtype):
    """A number, or a tensor with one, as a tensor of the type."""
    if is_symbolic(number):
        return cast(number, dtype)
    return convert(int(number), dtype._enum)


def check_that(holds, message):
    """Raises now, or when the graph that is being built runs; in graphs of sessions the operation
    that checks is given."""
    if is_symbolic(holds):
        known = static_value(holds)
        if known is None:
            return _require(holds, lambda: message)
        holds = bool(known)
    if not holds:
        raise InvalidArgumentError(None, None, message)
    return None


def after(value, *checks):
    """The value, once the checks have been made that are operations."""
    waited_for = [check for check in checks if check is not None]
    if not waited_for:
        return value
    with control_dependencies(waited_for):
        return call("identity", (convert_to_tensor(value),), {})
