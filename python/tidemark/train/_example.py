"""``tf.train.Example`` and its parts, as plain objects that read and write their messages."""

from __future__ import annotations

import struct

from tidemark._proto import wire


class DecodeError(ValueError):
    """The bytes are no such message."""


class _Message:
    """What protocol buffers' messages offer, as far as programs with examples use it."""

    def SerializeToString(self, deterministic=None):
        return self._encoded()

    def ParseFromString(self, data):
        self.Clear()
        return self.MergeFromString(data)

    def MergeFromString(self, data):
        try:
            self._read(data)
        except wire.MalformedError as error:
            raise DecodeError(f"Error parsing message: {error}") from None
        return len(data)

    def Clear(self):
        self.__init__()

    def CopyFrom(self, other):
        self.ParseFromString(other.SerializeToString())

    def ByteSize(self):
        return len(self._encoded())

    @classmethod
    def FromString(cls, data):
        message = cls()
        message.ParseFromString(data)
        return message

    def __eq__(self, other):
        return type(self) is type(other) and self._encoded() == other._encoded()

    __hash__ = None

    def __repr__(self):
        return self._text("")


class _List(_Message):
    """A list of values of one type."""

    def __init__(self, value=()):
        self.value = [self._checked(item) for item in value]

    def _encoded(self):
        raise NotImplementedError

    def _text(self, indent):
        return "".join(f"{indent}value: {self._shown(item)}\n" for item in self.value)

    @staticmethod
    def _shown(item):
        return repr(item)


class BytesList(_List):
    """Byte strings."""

    @staticmethod
    def _checked(item):
        if not isinstance(item, (bytes, bytearray)):
            raise TypeError(f"{item!r} has type {type(item).__name__}, but expected one of: bytes")
        return bytes(item)

    def _encoded(self):
        return b"".join(wire.bytes_field(1, self._checked(item)) for item in self.value)

    def _read(self, data):
        for number, kind, value in wire.fields(data):
            if number == 1 and kind == wire.BYTES:
                self.value.append(value)

    @staticmethod
    def _shown(item):
        return '"' + repr(item)[2:-1].replace('"', '\\"') + '"'


class FloatList(_List):
    """float32 numbers."""

    @staticmethod
    def _checked(item):
        if isinstance(item, (str, bytes)) or not hasattr(item, "__float__"):
            raise TypeError(
                f"{item!r} has type {type(item).__name__}, but expected one of: int, float"
            )
        return struct.unpack("<f", struct.pack("<f", float(item)))[0]

    def _encoded(self):
        if not self.value:
            return b""
        return wire.bytes_field(1, struct.pack(f"<{len(self.value)}f", *self.value))

    def _read(self, data):
        for number, kind, value in wire.fields(data):
            if number == 1:
                self.value.extend(wire.floats(kind, value))


class Int64List(_List):
    """int64 numbers."""

    @staticmethod
    def _checked(item):
        if not hasattr(item, "__index__"):
            raise TypeError(f"{item!r} has type {type(item).__name__}, but expected one of: int")
        value = item.__index__()
        if not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"Value out of range: {value}")
        return value

    def _encoded(self):
        if not self.value:
            return b""
        return wire.bytes_field(1, b"".join(wire.varint(self._checked(v)) for v in self.value))

    def _read(self, data):
        for number, kind, value in wire.fields(data):
            if number == 1:
                self.value.extend(wire.integers(kind, value))


_KINDS = {1: ("bytes_list", BytesList), 2: ("float_list", FloatList), 3: ("int64_list", Int64List)}


class Feature(_Message):
    """One of the three lists."""

    def __init__(self, bytes_list=None, float_list=None, int64_list=None):
        given = (bytes_list, float_list, int64_list)
        if sum(value is not None for value in given) > 1:
            raise ValueError("a Feature holds one list: bytes_list, float_list or int64_list")
        self._kind, self._list = None, None
        for (name, _), value in zip(_KINDS.values(), given, strict=True):
            if value is not None:
                self._kind, self._list = name, value

    def _get(self, name):
        if self._kind == name:
            return self._list
        kind = next(cls for known, cls in _KINDS.values() if known == name)
        empty = kind()
        if self._kind is None:  # filling the list chooses the kind
            self._kind, self._list = name, empty
        return empty

    bytes_list = property(lambda self: self._get("bytes_list"))
    float_list = property(lambda self: self._get("float_list"))
    int64_list = property(lambda self: self._get("int64_list"))

    def WhichOneof(self, group):
        if group != "kind":
            raise ValueError(f"a Feature has no group {group!r}")
        return self._kind

    def HasField(self, name):
        return self._kind == name

    def _encoded(self):
        for number, (name, _) in _KINDS.items():
            if name == self._kind:
                return wire.bytes_field(number, self._list._encoded())
        return b""

    def _read(self, data):
        for number, kind, value in wire.fields(data):
            if number in _KINDS and kind == wire.BYTES:
                name, cls = _KINDS[number]
                if self._kind != name:
                    self._kind, self._list = name, cls()
                self._list._read(value)

    def _text(self, indent):
        if self._kind is None:
            return ""
        return f"{indent}{self._kind} {{\n{self._list._text(indent + '  ')}{indent}}}\n"


class _Map(dict):
    """A map of messages: asking for a name makes it."""

    def __init__(self, cls, items=()):
        super().__init__(items)
        self._cls = cls

    def __missing__(self, key):
        self[key] = self._cls()
        return self[key]


class _Mapping(_Message):
    """A message with one map, from names to messages."""

    _FIELD, _CLASS = "", None

    def __init__(self, **maps):
        given = maps.pop(self._FIELD, None) or {}
        if maps:
            raise ValueError(f"{type(self).__name__} has no field {sorted(maps)[0]!r}")
        setattr(self, self._FIELD, _Map(self._CLASS, given))

    def _encoded(self):
        out = []
        for name, message in getattr(self, self._FIELD).items():
            entry = wire.bytes_field(1, name.encode()) + wire.bytes_field(2, message._encoded())
            out.append(wire.bytes_field(1, entry))
        return b"".join(out)

    def _read(self, data):
        for number, kind, value in wire.fields(data):
            if number != 1 or kind != wire.BYTES:
                continue
            name, message = "", self._CLASS()
            for part, part_kind, part_value in wire.fields(value):
                if part == 1 and part_kind == wire.BYTES:
                    name = part_value.decode("utf-8", "replace")
                elif part == 2 and part_kind == wire.BYTES:
                    message._read(part_value)
            getattr(self, self._FIELD)[name] = message

    def _text(self, indent):
        lines = []
        for name, message in getattr(self, self._FIELD).items():
            inner = message._text(indent + "    ")
            lines.append(
                f'{indent}{self._FIELD} {{\n{indent}  key: "{name}"\n{indent}  value {{\n{inner}'
                f"{indent}  }}\n{indent}}}\n"
            )
        return "".join(lines)


class Features(_Mapping):
    """Features by name."""

    _FIELD, _CLASS = "feature", Feature

    def __init__(self, feature=None):
        super().__init__(feature=feature)


class FeatureList(_Message):
    """Features one after another."""

    def __init__(self, feature=()):
        self.feature = list(feature)

    def _encoded(self):
        return b"".join(wire.bytes_field(1, item._encoded()) for item in self.feature)

    def _read(self, data):
        for number, kind, value in wire.fields(data):
            if number == 1 and kind == wire.BYTES:
                self.feature.append(Feature.FromString(value))

    def _text(self, indent):
        return "".join(
            f"{indent}feature {{\n{item._text(indent + '  ')}{indent}}}\n" for item in self.feature
        )


class FeatureLists(_Mapping):
    """Lists of features by name."""

    _FIELD, _CLASS = "feature_list", FeatureList

    def __init__(self, feature_list=None):
        super().__init__(feature_list=feature_list)


class _Pair(_Message):
    """A message of other messages, by field number."""

    _PARTS: dict = {}

    def _encoded(self):
        out = []
        for number, name in self._PARTS.items():
            data = getattr(self, name)._encoded()
            if data or getattr(self, f"_has_{name}", False):
                out.append(wire.bytes_field(number, data))
        return b"".join(out)

    def _read(self, data):
        for number, kind, value in wire.fields(data):
            if number in self._PARTS and kind == wire.BYTES:
                getattr(self, self._PARTS[number])._read(value)

    def _text(self, indent):
        out = []
        for name in self._PARTS.values():
            inner = getattr(self, name)._text(indent + "  ")
            if inner:
                out.append(f"{indent}{name} {{\n{inner}{indent}}}\n")
        return "".join(out)


class Example(_Pair):
    """Features of one thing."""

    _PARTS = {1: "features"}

    def __init__(self, features=None):
        self.features = features if features is not None else Features()


class SequenceExample(_Pair):
    """Features of a sequence, and those of its steps."""

    _PARTS = {1: "context", 2: "feature_lists"}

    def __init__(self, context=None, feature_lists=None):
        self.context = context if context is not None else Features()
        self.feature_lists = feature_lists if feature_lists is not None else FeatureLists()
