"""``tf.__internal__.distribute``: what Keras's optimizers ask of a strategy."""

from __future__ import annotations

import contextlib as _contextlib
import types as _types

import tidemark as _tf


def strategy_supports_no_merge_call():
    """Whether the strategy can update variables without meeting its other replicas."""
    return _tf.distribute.get_strategy().extended._use_merge_call() is False


def _maybe_merge_call(fn, strategy, *args, **kwargs):
    """Calls ``fn(strategy, …)``, in the context of all replicas if the strategy needs that."""
    if strategy_supports_no_merge_call():
        with strategy.extended._updates_together():
            return fn(strategy, *args, **kwargs)
    return _tf.distribute.get_replica_context().merge_call(fn, args=args, kwargs=kwargs)


interim = _types.SimpleNamespace(maybe_merge_call=_maybe_merge_call)


def variable_sync_on_read_context():
    """A context in which variables of several replicas are put together when they are read."""
    return _contextlib.nullcontext()


class ShardedVariable:
    """A variable in parts on several servers; there are none."""


def __getattr__(name):
    if name == "combinations":
        from tidemark.__internal__ import strategy_combinations  # tests alone need it

        return strategy_combinations
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
