"""Where the contents of a static table come from."""

from __future__ import annotations

from tidemark import _tidemark, dtypes
from tidemark._graph.tracing import lifted
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError, NotFoundError


class TableInitializerBase:
    """What fills a static table; one of another kind overrides ``initialize``."""

    def __init__(self, key_dtype, value_dtype):
        self.key_dtype, self.value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

    def initialize(self, table):
        """Puts the contents into a new table."""
        table._fill(*self.contents())


def _known(values, dtype):
    """A tensor of the values. In a graph constants are what they hold, so that the table can be
    filled at once."""
    if _tidemark.is_symbolic(values):
        found = _tidemark.static_value(values)
        if found is None:
            return convert_to_tensor(values, dtype=dtype)
        values = found
    with lifted():
        return convert_to_tensor(values, dtype=dtype)


class KeyValueTensorInitializer(TableInitializerBase):
    """Keys and values given as tensors."""

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        if not hasattr(keys, "dtype") and len(keys) == 0 and key_dtype is None:
            key_dtype = dtypes.float32
        self._keys = _known(keys, key_dtype)
        self._values = _known(values, value_dtype)
        self.key_dtype = self._keys.dtype
        self.value_dtype = self._values.dtype

    def contents(self):
        """Keys and values, each a vector."""
        parts = self._keys, self._values
        if any(map(_tidemark.is_symbolic, parts)):
            return tuple(call("reshape", (part, [-1]), {}) for part in parts)
        with lifted():
            return tuple(call("reshape", (part, [-1]), {}) for part in parts)


class TextFileIndex:
    """Special columns of a text file."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(TableInitializerBase):
    """Keys and values from the columns of a text file's lines."""

    def __init__(
        self,
        filename,
        key_dtype,
        key_index,
        value_dtype,
        value_index,
        vocab_size=None,
        delimiter="\t",
        name=None,
        value_index_offset=0,
    ):
        self._filename = filename
        self.key_dtype = dtypes.as_dtype(key_dtype)
        self.value_dtype = dtypes.as_dtype(value_dtype)
        for index, dtype, what in (
            (key_index, self.key_dtype, "key"),
            (value_index, self.value_dtype, "value"),
        ):
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"Invalid index {index}: {what}_index must be -2, -1 or a column")
            if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(
                    f"Signature mismatch. {what} dtype must be int64 for line numbers, got {dtype}"
                )
            integer_key = what == "key" and dtype.is_integer
            if index == TextFileIndex.WHOLE_LINE and dtype != dtypes.string and not integer_key:
                raise ValueError(
                    f"Signature mismatch. {what} dtype must be string for whole lines, got {dtype}"
                )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}")
        self._indices = (key_index, value_index)
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._offset = value_index_offset

    def _lines(self):
        name = self._filename
        name = name.numpy() if hasattr(name, "numpy") else name
        try:
            with open(name, "rb") as file:
                lines = file.read().split(b"\n")
        except OSError as error:
            raise NotFoundError(None, None, f"{name!r} cannot be read: {error.strerror}") from None
        if lines and lines[-1] == b"":
            lines.pop()
        if self._vocab_size is not None:
            if len(lines) < self._vocab_size:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Invalid vocab_size in {name!r}: expected {self._vocab_size} but got "
                    f"{len(lines)} lines",
                )
            lines = lines[: self._vocab_size]
        return [line.removesuffix(b"\r") for line in lines]

    def _column(self, lines, index, dtype, offset):
        if index == TextFileIndex.LINE_NUMBER:
            numbers = [number + offset for number in range(len(lines))]
            return convert_to_tensor(numbers, dtype=dtypes.int64)
        texts = lines
        if index != TextFileIndex.WHOLE_LINE:
            delimiter = self._delimiter.encode()
            texts = []
            for number, line in enumerate(lines):
                columns = line.split(delimiter)
                if index >= len(columns):
                    raise InvalidArgumentError(
                        None,
                        None,
                        f"Invalid number of columns in {self._filename!r} line {number} "
                        f"({line[:80]!r}): expected {index + 1}, got {len(columns)}",
                    )
                texts.append(columns[index])
        strings = convert_to_tensor(texts, dtype=dtypes.string)
        if dtype == dtypes.string:
            return strings
        return call("string_to_number", (strings,), {"out_type": dtype})

    def contents(self):
        """Keys and values, each a vector."""
        lines = self._lines()
        key_index, value_index = self._indices
        with lifted():
            return (
                self._column(lines, key_index, self.key_dtype, 0),
                self._column(lines, value_index, self.value_dtype, self._offset),
            )
