"""``tf.config.optimizer``: switches of the graph passes."""

from __future__ import annotations

_options = {"disable_model_pruning": False, "disable_meta_optimizer": False}
_jit = {"enabled": ""}


def get_jit():
    """What set_jit was given: "", "autoclustering"."""
    return _jit["enabled"]


def set_jit(enabled):
    """Noted only: functions are compiled in any case."""
    _jit["enabled"] = "autoclustering" if enabled is True else (enabled or "")


def get_experimental_options():
    """The options that were set."""
    return dict(_options)


def set_experimental_options(options):
    """Sets options by name."""
    _options.update(options)
