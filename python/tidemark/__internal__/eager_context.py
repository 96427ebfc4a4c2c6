"""``tf.__internal__.eager_context``: where ops run when they are called."""

from __future__ import annotations

from tidemark._graph.scopes import eager_mode

__all__ = ["eager_mode", "get_config"]


def get_config():
    """Settings of the process; there is no message of them here."""
    return None
