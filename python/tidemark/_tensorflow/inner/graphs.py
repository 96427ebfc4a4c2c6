"""What ``tensorflow.python.framework.ops`` has beyond public names."""

from __future__ import annotations

import contextlib
import itertools

import tidemark
from tidemark import _tidemark
from tidemark._graph.func_graph import FuncGraph
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.kinds import EagerTensor
from tidemark.compat.v1 import name_scope as name_scope_v1

NullContextmanager = contextlib.nullcontext
_uids = itertools.count(1)


def uid():
    """A number that was not given before in this process."""
    return next(_uids)


def name_from_scope_name(name):
    """The name of an op that a scope was made for."""
    return name.removesuffix("/")


def convert_to_tensor_or_composite(value, dtype=None, name=None):
    """A composite as it is; anything else as a tensor."""
    if getattr(value, "_type_spec", None) is not None and not isinstance(
        value, (_tidemark.Tensor, _tidemark.VariableBase)
    ):
        return value
    return convert_to_tensor(value, dtype=dtype, name=name)


internal_convert_to_tensor_or_composite = convert_to_tensor_or_composite


def internal_convert_to_tensor_or_indexed_slices(value, dtype=None, name=None, as_ref=False):
    if isinstance(value, tidemark.IndexedSlices):
        return value
    return convert_to_tensor(value, dtype=dtype, name=name)


def colocate_with(op, ignore_existing=False):
    """Where an op runs follows from its inputs here."""
    return contextlib.nullcontext()


_colocate_with_for_gradient = colocate_with


def register_dense_tensor_like_type(tensor_type):
    """Whatever converts itself with ``__tf_tensor__`` is taken for a tensor."""


def numpy_text(tensor, is_repr=False):
    """The value of a tensor as NumPy writes it."""
    from tidemark._tensor.methods import _numpy_text  # loaded on first use

    return _numpy_text(tensor, is_repr)


def _get_graph_from_inputs(op_input_list, graph=None):
    """The graph that the tensors are in, or the one around this place."""
    for tensor in op_input_list:
        if isinstance(tensor, _tidemark.Tensor) and tidemark.is_symbolic_tensor(tensor):
            return tensor.graph
    return graph or tidemark.compat.v1.get_default_graph()


def inside_function():
    return tidemark.inside_function()


def has_default_graph():
    return tidemark.inside_function()


def is_auto_dtype_conversion_enabled():
    return False


def _is_keras_symbolic_tensor(x):
    return hasattr(x, "_keras_history")


def get_name_scope():
    return tidemark.get_current_name_scope()


__all__ = ["EagerTensor", "FuncGraph", "NullContextmanager", "name_scope_v1"]
