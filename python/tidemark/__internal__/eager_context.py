"""``tf.__internal__.eager_context``: where ops run when they are called."""

from __future__ import annotations

from tidemark._graph.scopes import init_scope


def eager_mode():
    """A context in which ops run when they are called."""
    return init_scope()


def get_config():
    """Settings of the process; there is no message of them here."""
    return None
