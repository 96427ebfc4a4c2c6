"""Python functions that are steps of graphs, by what stands for them in a ``GraphDef``.

A message cannot hold a function. As in TensorFlow it holds a token, which means something in this
process and for as long as the graph, or somebody else, keeps the function.
"""

from __future__ import annotations

import weakref

from tidemark import _tidemark


class GraphStep:
    """A function that TensorFlow has an operation for."""

    def write(self, writer, node, label):
        """Adds the operation to a message; False where it cannot."""
        raise NotImplementedError


_by_token = weakref.WeakValueDictionary()


def _token(node):
    return f"pyfunc_{node.sequence}"


def remember(results, function):
    """Makes the step that gave these results one that can be written and read back."""
    if results and _tidemark.is_symbolic(results[0]):
        _by_token[_token(_tidemark.node_of(results[0]))] = function
    return results


def token_of(node):
    """What stands for the function of a step; None if it cannot be read back."""
    token = _token(node)
    return token if token in _by_token else None


def function_of(token):
    """The function, if it is still there."""
    return _by_token.get(token)
