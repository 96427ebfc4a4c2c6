"""``tf.saved_model.experimental``: resources that models track."""

from __future__ import annotations

from tidemark._export import refusing as _refusing
from tidemark._trackable.tracking import Trackable
from tidemark.lookup._tables import _Table


class _Kind(type):
    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (
            cls is TrackableResource and isinstance(instance, _Table)
        )


class TrackableResource(Trackable, metaclass=_Kind):
    """Something beside variables that functions use, such as a table."""


class VariablePolicy:
    """Whether devices of variables are saved; there is one device."""

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"


__all__ = ["TrackableResource", "VariablePolicy"]

__getattr__ = _refusing("tf.saved_model.experimental")
