"""What a field of a message may hold, and how its values are written and read."""

from __future__ import annotations

import struct

from tidemark._proto.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    MalformedError,
    signed,
    take_varint,
    varint,
)

_INTEGERS = {
    "int32": (-(1 << 31), (1 << 31) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint32": (0, (1 << 32) - 1),
    "uint64": (0, (1 << 64) - 1),
    "enum": (-(1 << 31), (1 << 31) - 1),
}
_FIXED = {"float": (FIXED32, "<f"), "double": (FIXED64, "<d"), "fixed32": (FIXED32, "<I"),
          "fixed64": (FIXED64, "<Q")}  # fmt: skip
_DEFAULTS = {"bool": False, "float": 0.0, "double": 0.0, "string": "", "bytes": b""}


class DecodeError(ValueError):
    """The bytes are no message of this type."""


class Field:
    """One field: its number, its name and what it holds. ``message`` gives the type of messages."""

    def __init__(self, number, name, kind, repeated=False, message=None, oneof=None, enum=None):
        self.number, self.name, self.kind, self.repeated = number, name, kind, repeated
        self._message, self.oneof, self.enum = message, oneof, enum

    @property
    def message(self):
        """The type of the messages it holds."""
        if not isinstance(self._message, type):
            self._message = self._message()
        return self._message

    is_map = property(lambda self: self.kind == "map")
    is_message = property(lambda self: self.kind == "message")

    @property
    def default(self):
        return _DEFAULTS.get(self.kind, 0)

    def checked(self, value):
        """The value as the field holds it; raises for what it cannot hold."""
        kind = self.kind
        if kind == "string":
            if isinstance(value, bytes):
                return value.decode()
            if not isinstance(value, str):
                raise TypeError(f"{self.name} is a string; given {value!r}")
            return value
        if kind == "bytes":
            if isinstance(value, str):
                return value.encode()
            if not isinstance(value, (bytes, bytearray, memoryview)):
                raise TypeError(f"{self.name} holds bytes; given {value!r}")
            return bytes(value)
        if kind in ("float", "double"):
            value = float(value)
            return struct.unpack("<f", struct.pack("<f", value))[0] if kind == "float" else value
        if kind == "bool":
            return bool(value)
        if kind == "enum":
            value = getattr(value, "as_datatype_enum", value)
        if isinstance(value, str) and self.enum is not None:
            return self.enum.Value(value)
        try:
            number = value.__index__()
        except AttributeError:
            raise TypeError(f"{self.name} is an integer; given {value!r}") from None
        low, high = _INTEGERS.get(kind, (0, (1 << 64) - 1))
        if not low <= number <= high:
            raise ValueError(f"{self.name} is an {kind}; {number} is out of its range")
        return number

    # --- one value on the wire ---------------------------------------------------------------

    def payload(self, value):
        """A number or text without its tag."""
        if self.kind in _FIXED:
            return struct.pack(_FIXED[self.kind][1], value)
        if self.kind == "string":
            value = value.encode()
        if self.kind in ("string", "bytes"):
            return varint(len(value)) + value
        return varint(int(value))

    @property
    def wire_type(self):
        if self.kind in _FIXED:
            return _FIXED[self.kind][0]
        return BYTES if self.kind in ("string", "bytes", "message", "map") else VARINT

    def tag(self, wire_type=None):
        return varint(self.number << 3 | (self.wire_type if wire_type is None else wire_type))

    def numbers(self, wire_type, value):
        """The numbers of a field as it was read: one, or several packed together."""
        if self.kind in _FIXED:
            expected, form = _FIXED[self.kind]
            size = struct.calcsize(form)
            if wire_type not in (BYTES, expected) or len(value) % size:
                raise DecodeError(f"the numbers of field {self.name} are malformed")
            return [number for (number,) in struct.iter_unpack(form, value)]
        if wire_type == VARINT:
            return [self._integer(value)]
        if wire_type != BYTES:
            raise DecodeError(f"field {self.name} does not hold what was given for it")
        out, at = [], 0
        while at < len(value):
            number, at = take_varint(value, at)
            out.append(self._integer(number))
        return out

    def _integer(self, value):
        if self.kind == "bool":
            return value != 0
        if self.kind in ("uint64", "fixed64"):
            return value
        if self.kind == "uint32":
            return value & 0xFFFFFFFF
        value = signed(value)
        if self.kind in ("int32", "enum"):
            value &= 0xFFFFFFFF
            return value - (1 << 32) if value >> 31 else value
        return value

    def text(self, value):
        """A string or bytes as they were read."""
        if self.kind == "bytes":
            return bytes(value)
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise DecodeError(f"field {self.name} is no text in UTF-8") from None


class Enum:
    """Names of numbers."""

    def __init__(self, **numbers):
        self._numbers = numbers
        self._names = {number: name for name, number in numbers.items()}
        for name, number in numbers.items():
            setattr(self, name, number)

    def Name(self, number):
        return self._names[number]

    def Value(self, name):
        if name not in self._numbers:
            raise ValueError(f"There is no {name!r} here; there are {', '.join(self._numbers)}")
        return self._numbers[name]

    def keys(self):
        return list(self._numbers)

    def values(self):
        return list(self._numbers.values())

    def items(self):
        return list(self._numbers.items())

    def name_of(self, number):
        """The number's name; the number itself where it has none."""
        return self._names.get(number, str(number))


__all__ = ["DecodeError", "Enum", "Field", "MalformedError"]
