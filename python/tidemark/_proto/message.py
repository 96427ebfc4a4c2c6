"""Message: fields by name, as protocol buffers' generated classes have them.

node = NodeDef(name="x", op="Placeholder")
node.attr["dtype"].type = 1
NodeDef.FromString(node.SerializeToString()) == node
"""

from __future__ import annotations

from tidemark._proto import wire
from tidemark._proto.containers import MessageMap, RepeatedMessage, RepeatedScalar, ScalarMap
from tidemark._proto.fields import DecodeError, Field

_DEEPEST = 100


def _is_same_of_protobuf(other, mine):
    """Whether another message is of the protobuf package, and of the kind of one of ours."""
    descriptor = getattr(other, "DESCRIPTOR", None)
    is_of_tensorflow = getattr(descriptor, "full_name", "").startswith("tensorflow.")
    return is_of_tensorflow and descriptor.name == type(mine).__name__


class Message:
    """Subclasses list their fields in ``FIELDS``."""

    FIELDS: tuple[Field, ...] = ()
    __slots__ = ("_values", "_parent", "_unknown", "__weakref__")

    def __init_subclass__(cls):
        cls._by_name = {field.name: field for field in cls.FIELDS}
        cls._by_number = {field.number: field for field in cls.FIELDS}

    def __init__(self, **given):
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_parent", None)
        object.__setattr__(self, "_unknown", b"")
        for name, value in given.items():
            self._fill(name, value)

    def _fill(self, name, value):
        field = self._field(name)
        if value is None:
            return
        if field.is_map or field.repeated:
            container = getattr(self, name)
            if field.is_message:
                for item in value:
                    container.add(**item) if isinstance(item, dict) else container.append(item)
            else:
                container.update(value) if field.is_map else container.extend(value)
        elif field.is_message:
            made = field.message(**value) if isinstance(value, dict) else value
            getattr(self, name).CopyFrom(made)
        else:
            setattr(self, name, value)

    def _field(self, name):
        field = self._by_name.get(name)
        if field is None:
            raise ValueError(
                f"Protocol message {type(self).__name__} has no {name!r} field; it has "
                f"{', '.join(self._by_name)}"
            )
        return field

    # --- fields ------------------------------------------------------------------------------

    def __getattr__(self, name):
        field = type(self)._by_name.get(name)
        if field is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        values = self._values
        if name in values:
            return values[name]
        if field.is_map:
            made = (MessageMap if field._message is not None else ScalarMap)(field, self)
        elif field.repeated:
            made = (RepeatedMessage if field.is_message else RepeatedScalar)(field, self)
        elif field.is_message:
            made = field.message()
            object.__setattr__(made, "_parent", (self, field))
            return made
        else:
            return field.default
        values[name] = made
        return made

    def __setattr__(self, name, value):
        field = type(self)._by_name.get(name)
        if field is None:
            raise AttributeError(
                f"Protocol message {type(self).__name__} has no {name!r} field; it has "
                f"{', '.join(self._by_name)}"
            )
        if field.is_map or field.repeated or field.is_message:
            raise AttributeError(
                f"Assignment not allowed to field {name!r} of {type(self).__name__}: change what "
                "is in it, or use CopyFrom or extend"
            )
        self._set(field, field.checked(value))

    def _set(self, field, value):
        if field.oneof is not None:
            self._clear_oneof(field.oneof, field)
        self._values[field.name] = value
        self._changed()

    def _clear_oneof(self, oneof, but):
        for other in self.FIELDS:
            if other.oneof == oneof and other is not but:
                self._values.pop(other.name, None)

    def _changed(self):
        """Something in here was set: the messages around it have it from now on."""
        if self._parent is None:
            return
        parent, field = self._parent
        if parent._values.get(field.name) is not self:
            parent._set(field, self)

    SetInParent = _changed

    def _is_set(self, field):
        if field.name not in self._values:
            return False
        value = self._values[field.name]
        if field.is_map or field.repeated:
            return len(value) > 0
        return field.is_message or field.oneof is not None or value != field.default

    def ListFields(self):
        """Pairs of a field and its value, of those that are set."""
        return [(f, self._values[f.name]) for f in self.FIELDS if self._is_set(f)]

    def HasField(self, name):
        field = self._field(name)
        if field.is_map or field.repeated:
            raise ValueError(f"Field {type(self).__name__}.{name} does not have presence.")
        return self._is_set(field)

    def WhichOneof(self, name):
        for field in self.FIELDS:
            if field.oneof == name and field.name in self._values:
                return field.name
        return None

    def ClearField(self, name):
        self._values.pop(self._field(name).name, None)
        self._changed()

    def Clear(self):
        self._values.clear()
        object.__setattr__(self, "_unknown", b"")
        self._changed()

    def MergeFrom(self, other):
        """Takes over what the other has: single values replace, lists grow."""
        if type(other) is not type(self):
            if _is_same_of_protobuf(other, self):
                self.MergeFromString(other.SerializeToString())
                return
            raise TypeError(
                f"Parameter to MergeFrom() must be instance of same class: expected "
                f"{type(self).__name__} got {type(other).__name__}."
            )
        for field, value in other.ListFields():
            if field.is_map or field.repeated:
                getattr(self, field.name).MergeFrom(value)
            elif field.is_message:
                mine = getattr(self, field.name)
                mine.MergeFrom(value)
                mine._changed()
            else:
                self._set(field, value)
        self._changed()

    def CopyFrom(self, other):
        if other is self:
            return
        self.Clear()
        self.MergeFrom(other)

    # --- bytes -------------------------------------------------------------------------------

    def SerializeToString(self, deterministic=None):
        """The message as bytes; fields in the order of their numbers, maps by their keys."""
        out = []
        for field in sorted((f for f in self.FIELDS if self._is_set(f)), key=lambda f: f.number):
            self._write(field, self._values[field.name], out)
        out.append(self._unknown)
        return b"".join(out)

    SerializePartialToString = SerializeToString

    @staticmethod
    def _write(field, value, out):
        if field.is_map:
            for key in sorted(value):
                item = value[key]
                body = wire.bytes_field(1, key.encode())
                if field._message is None:
                    body += wire.varint(2 << 3) + wire.varint(item)
                else:
                    body += wire.bytes_field(2, item.SerializeToString())
                out.append(wire.bytes_field(field.number, body))
        elif field.is_message:
            for item in value if field.repeated else (value,):
                data = item.SerializeToString()
                out += [field.tag(), wire.varint(len(data)), data]
        elif not field.repeated:
            out += [field.tag(), field.payload(value)]
        elif field.kind in ("string", "bytes"):
            for item in value:
                out += [field.tag(), field.payload(item)]
        else:
            data = b"".join([field.payload(item) for item in value])
            out += [field.tag(wire.BYTES), wire.varint(len(data)), data]

    def ByteSize(self):
        return len(self.SerializeToString())

    def ParseFromString(self, data):
        """Becomes the message that the bytes hold; returns how many there were."""
        self.Clear()
        return self.MergeFromString(data)

    def MergeFromString(self, data):
        try:
            self._read(bytes(data), 0)
        except wire.MalformedError as error:
            raise DecodeError(f"Error parsing message of {type(self).__name__}: {error}") from None
        self._changed()
        return len(data)

    @classmethod
    def FromString(cls, data):
        made = cls()
        made.ParseFromString(data)
        return made

    def _read(self, data, depth):
        if depth > _DEEPEST:
            raise DecodeError(f"messages are nested more than {_DEEPEST} deep")
        for number, kind, value in wire.fields(data):
            field = self._by_number.get(number)
            if field is None:
                self._keep_unknown(number, kind, value)
                continue
            if field.is_map or field.is_message or field.kind in ("string", "bytes"):
                if kind != wire.BYTES:
                    raise DecodeError(f"field {field.name} of {type(self).__name__} is no {kind}")
                self._read_bytes(field, value, depth)
                continue
            numbers = field.numbers(kind, value)
            if field.repeated:
                list.extend(getattr(self, field.name), numbers)
            elif numbers:
                self._set(field, numbers[-1])

    def _read_bytes(self, field, value, depth):
        if field.is_map:
            self._read_entry(field, value, depth)
        elif not field.is_message:
            text = field.text(value)
            if field.repeated:
                list.append(getattr(self, field.name), text)
            else:
                self._set(field, text)
        elif field.repeated:
            getattr(self, field.name).add()._read(value, depth + 1)
        else:
            inner = getattr(self, field.name)
            inner._read(value, depth + 1)
            inner._changed()

    def _read_entry(self, field, data, depth):
        key, body, number = "", b"", 0
        for at, kind, value in wire.fields(data):
            if at == 1 and kind == wire.BYTES:
                key = Field(1, "key", "string").text(value)
            elif at == 2 and field._message is None and kind == wire.VARINT:
                number = value
            elif at == 2 and kind == wire.BYTES:
                body = value
        container = getattr(self, field.name)
        if field._message is None:
            container[key] = wire.signed(number)
            return
        made = container[key]
        made.Clear()
        made._read(body, depth + 1)

    def _keep_unknown(self, number, kind, value):
        head = wire.varint(number << 3 | kind)
        if kind == wire.VARINT:
            body = wire.varint(value)
        elif kind == wire.BYTES:
            body = wire.varint(len(value)) + value
        else:
            body = value
        object.__setattr__(self, "_unknown", self._unknown + head + body)

    # --- as a value --------------------------------------------------------------------------

    def IsInitialized(self):
        return True

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return self._content() == other._content() and self._unknown == other._unknown

    __hash__ = None

    def _content(self):
        return {field.name: value for field, value in self.ListFields()}

    def __copy__(self):
        made = type(self)()
        made.CopyFrom(self)
        object.__setattr__(made, "_unknown", self._unknown)
        return made

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        return _from_bytes, (type(self), self.SerializeToString())

    def __str__(self):
        from tidemark._proto.text import to_text  # loaded on first use

        return to_text(self)

    __repr__ = __str__


def _from_bytes(kind, data):
    return kind.FromString(data)
