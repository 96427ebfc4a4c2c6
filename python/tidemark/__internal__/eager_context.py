"""``tf.__internal__.eager_context``: where ops run when they are called."""

from __future__ import annotations

from tidemark._graph.scopes import eager_mode

__all__ = ["eager_mode", "get_config"]


def get_config():
    """Settings that a session of this process is opened with, unless it says otherwise."""
    from tidemark.compat.v1 import ConfigProto  # few programs open sessions

    return ConfigProto()
