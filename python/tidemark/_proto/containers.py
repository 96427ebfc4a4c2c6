"""What fields with several values give: lists and maps that tell their message when they change."""

from __future__ import annotations


class RepeatedScalar(list):
    """Numbers or texts."""

    __slots__ = ("_field", "_owner")

    def __init__(self, field, owner):
        super().__init__()
        self._field, self._owner = field, owner

    def append(self, value):
        super().append(self._field.checked(value))
        self._owner._changed()

    def extend(self, values):
        super().extend([self._field.checked(value) for value in values])
        self._owner._changed()

    MergeFrom = extend

    def insert(self, index, value):
        super().insert(index, self._field.checked(value))
        self._owner._changed()

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __setitem__(self, index, value):
        if isinstance(index, slice):
            value = [self._field.checked(v) for v in value]
        else:
            value = self._field.checked(value)
        super().__setitem__(index, value)


class RepeatedMessage(list):
    """Messages; those appended are copied."""

    __slots__ = ("_field", "_owner")

    def __init__(self, field, owner):
        super().__init__()
        self._field, self._owner = field, owner

    def add(self, **given):
        """A new message at the end."""
        made = self._field.message(**given)
        super().append(made)
        self._owner._changed()
        return made

    def append(self, message):
        if not isinstance(message, self._field.message):
            raise TypeError(
                f"{self._field.name} holds {self._field.message.__name__}; given {message!r}"
            )
        self.add().CopyFrom(message)

    def extend(self, messages):
        for message in messages:
            self.append(message)

    MergeFrom = extend

    def __iadd__(self, messages):
        self.extend(messages)
        return self

    def __setitem__(self, index, value):
        raise TypeError(f"items of {self._field.name} are changed in place, or by CopyFrom")


class MessageMap(dict):
    """Messages by a text; asking for one that is not there makes it."""

    __slots__ = ("_field", "_owner")

    def __init__(self, field, owner):
        super().__init__()
        self._field, self._owner = field, owner

    def __missing__(self, key):
        made = self._field.message()
        if not isinstance(key, str):
            raise TypeError(f"keys of {self._field.name} are strings; given {key!r}")
        super().__setitem__(key, made)
        self._owner._changed()
        return made

    def get_or_create(self, key):
        return self[key]

    def __setitem__(self, key, value):
        raise ValueError(f"May not set values directly: use {self._field.name}[{key!r}].CopyFrom")

    def update(self, other):
        for key, value in other.items():
            self[key].CopyFrom(value)

    MergeFrom = update

    def setdefault(self, key, default=None):
        if key not in self and default is not None:
            self[key].CopyFrom(default)
        return self[key]


class ScalarMap(dict):
    """Numbers by a text."""

    __slots__ = ("_field", "_owner")

    def __init__(self, field, owner):
        super().__init__()
        self._field, self._owner = field, owner

    def __setitem__(self, key, value):
        super().__setitem__(str(key), int(value))
        self._owner._changed()

    def update(self, other=(), **more):
        for key, value in dict(other, **more).items():
            self[key] = value

    MergeFrom = update
