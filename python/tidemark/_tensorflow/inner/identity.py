"""``tensorflow.python.util.object_identity``: sets and dictionaries that ask who, not what."""

from __future__ import annotations

import collections.abc
import functools
import weakref


@functools.total_ordering
class _ObjectIdentityWrapper:
    """A thing that equals itself alone."""

    __slots__ = ("_wrapped", "__weakref__")

    def __init__(self, wrapped):
        self._wrapped = wrapped

    @property
    def unwrapped(self):
        return self._wrapped

    def __eq__(self, other):
        if not isinstance(other, _ObjectIdentityWrapper):
            return NotImplemented
        return self._wrapped is other._wrapped

    def __lt__(self, other):
        return id(self._wrapped) < id(other._wrapped)

    def __hash__(self):
        return id(self._wrapped)

    def __repr__(self):
        return f"<{type(self).__name__} wrapping {self._wrapped!r}>"


class Reference(_ObjectIdentityWrapper):
    """A reference to a thing that can be a key."""

    __slots__ = ()

    def deref(self):
        return self._wrapped


class ObjectIdentityDictionary(collections.abc.MutableMapping):
    """A dictionary by identity of its keys."""

    def __init__(self, *args, **kwargs):
        self._items = {}
        self.update(dict(*args, **kwargs))

    def __getitem__(self, key):
        return self._items[id(key)][1]

    def __setitem__(self, key, value):
        self._items[id(key)] = (key, value)

    def __delitem__(self, key):
        del self._items[id(key)]

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter([key for key, _ in self._items.values()])

    def __contains__(self, key):
        return id(key) in self._items


class ObjectIdentitySet(collections.abc.MutableSet):
    """A set by identity."""

    def __init__(self, *args):
        self._items = {}
        self.update(*args)

    def __contains__(self, value):
        return id(value) in self._items

    def add(self, value):
        self._items[id(value)] = value

    def discard(self, value):
        self._items.pop(id(value), None)

    def update(self, items=()):
        for item in items:
            self.add(item)

    def clear(self):
        self._items.clear()

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(list(self._items.values()))

    def intersection(self, items):
        return type(self)(item for item in items if item in self)

    def difference(self, items):
        others = ObjectIdentitySet(items)
        return type(self)(item for item in self if item not in others)


class ObjectIdentityWeakKeyDictionary(collections.abc.MutableMapping):
    """A dictionary by identity that does not keep its keys alive."""

    def __init__(self):
        self._items = {}

    def __getitem__(self, key):
        return self._items[id(key)][1]

    def __setitem__(self, key, value):
        number, items = id(key), self._items
        self._items[number] = (weakref.ref(key, lambda _: items.pop(number, None)), value)

    def __delitem__(self, key):
        del self._items[id(key)]

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        found = [reference() for reference, _ in list(self._items.values())]
        return iter([key for key in found if key is not None])


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """A set by identity that does not keep its members alive."""

    def add(self, value):
        number, items = id(value), self._items
        self._items[number] = weakref.ref(value, lambda _: items.pop(number, None))

    def __iter__(self):
        found = [reference() for reference in list(self._items.values())]
        return iter([item for item in found if item is not None])
