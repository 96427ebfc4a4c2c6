"""The budget of the scopes that surround a trace: what ``tf.memory.budget`` sets."""

from __future__ import annotations

import contextvars

scope = contextvars.ContextVar("memory_budget", default=0)


def budget_of(own):
    """The bytes that a trace made now may take; 0: any. ``own``: what its function says."""
    return own or scope.get()
