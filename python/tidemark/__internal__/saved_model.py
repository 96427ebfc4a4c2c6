"""``tf.__internal__.saved_model``: what Keras 2 needs to read its models out of saved models."""

from __future__ import annotations

import types as _types

_revived = {}  # identifier → (predicate, versions)


class _VersionedTypeRegistration:
    """How a kind of object is made again out of a saved model."""

    def __init__(self, object_factory, version, min_producer_version=0, min_consumer_version=0,
                 bad_consumers=None, setter=setattr):  # fmt: skip
        self._object_factory, self.version, self.setter = object_factory, version, setter

    def from_proto(self, proto):
        return self._object_factory(proto)


def _register_revived_type(identifier, predicate, versions):
    _revived[identifier] = (predicate, versions)


def _registered_identifiers():
    return list(_revived)


def _get_setter(proto):
    known = _revived.get(proto.identifier)
    return known and known[1][0].setter


load = _types.SimpleNamespace(
    VersionedTypeRegistration=_VersionedTypeRegistration,
    register_revived_type=_register_revived_type,
    registered_identifiers=_registered_identifiers,
    get_setter=_get_setter,
)
