"""``tf.autograph``: Python statements over tensors become parts of the graph.

    @tf.autograph.to_graph
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

``tf.function`` does this by itself. Nothing of the conversion is loaded before it is needed.
"""

from __future__ import annotations

from tidemark.autograph import experimental

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]


def _target(entity):
    """The Python function to convert."""
    from tidemark.autograph import _convert  # loaded on first use

    entity = getattr(entity, "python_function", entity)
    if not _convert.is_convertible(entity):
        raise ValueError(
            f"only functions and methods can be converted, got {entity!r} of type "
            f"{type(entity).__name__}"
        )
    return getattr(entity, "__func__", entity)


def to_graph(entity, recursive=True, experimental_optional_features=None):
    """The converted function, of the same signature; a method becomes a function of its object."""
    from tidemark.autograph import _convert, _rules  # loaded on first use
    from tidemark.autograph._context import Options  # loaded on first use

    options = Options(recursive, True, experimental_optional_features)
    return _rules.as_artifact(_convert.convert(_target(entity), options))


def to_code(entity, recursive=True, experimental_optional_features=None):
    """The source of the converted function."""
    from tidemark.autograph import _convert  # loaded on first use
    from tidemark.autograph._context import Options  # loaded on first use

    options = Options(recursive, True, experimental_optional_features)
    return _convert.source_of(_target(entity), options)


def set_verbosity(level, alsologtostdout=False):
    """How much the conversion says of itself in the log; 0 is nothing, 10 all."""
    from tidemark.autograph import _verbosity  # loaded on first use

    _verbosity.set_level(level, alsologtostdout)


def trace(*args):
    """Prints its arguments while the function is traced."""
    print(*args)
