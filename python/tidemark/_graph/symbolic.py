"""What tensors of graphs tell about themselves: name, operation, graph."""

from __future__ import annotations

import weakref

from tidemark import _tidemark

_TYPES = {
    "add": "AddV2", "subtract": "Sub", "multiply": "Mul", "truediv": "RealDiv", "matmul": "MatMul",
    "placeholder": "Placeholder", "constant": "Const", "read_variable": "ReadVariableOp",
    "cond": "If", "while": "While", "negative": "Neg", "batch_matmul": "BatchMatMulV2",
    "conv2d": "Conv2D", "concat": "ConcatV2", "stack": "Pack", "unstack": "Unpack",
    "relu": "Relu", "py_function": "EagerPyFunc",
}  # fmt: skip


def operation_type(kind):
    """TensorFlow's name for a kind of operation."""
    return _TYPES.get(kind) or "".join(part.capitalize() for part in kind.split("_"))


class Operation:
    """The operation of a graph that makes a tensor."""

    __slots__ = ("_tensor", "__weakref__")

    def __init__(self, tensor):
        self._tensor = tensor

    name = property(lambda self: _tidemark.node_name(self._tensor))
    type = property(lambda self: operation_type(_tidemark.node_kind(self._tensor)))
    inputs = property(lambda self: tuple(_tidemark.node_inputs(self._tensor)))
    outputs = property(lambda self: _tidemark.node_outputs(self._tensor))
    graph = property(lambda self: graph_of(self._tensor))
    device = ""

    @property
    def place(self):
        """file:line of the user's code that made it."""
        return _tidemark.node_line(self._tensor)

    def get_attr(self, name):
        """The value of an attribute."""
        found = _tidemark.node_attrs(self._tensor)
        if name not in found:
            raise ValueError(f"Operation {self.name!r} has no attr named {name!r}.")
        return found[name]

    def __eq__(self, other):
        if not isinstance(other, Operation):
            return NotImplemented
        return self.graph is other.graph and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"<tf.Operation {self.name!r} type={self.type}>"


class TracedGraph:
    """The graph that is being built; compares by identity."""

    def __init__(self, number):
        self._number = number

    building_function = True

    def unique_name(self, name, mark_as_used=True):
        return name

    def as_default(self):
        """A context in which this graph is built: it is anyway."""
        import contextlib

        return contextlib.nullcontext(self)

    def __repr__(self):
        return f"<graph {self._number} being traced>"


_graphs = weakref.WeakValueDictionary()


def graph_numbered(number):
    """The one object that stands for a graph."""
    found = _graphs.get(number)
    if found is None:
        found = _graphs[number] = TracedGraph(number)
    return found


session_graph = None  # the graph of sessions with a number, or None; set beside such graphs


def graph_of(tensor):
    number = _tidemark.graph_id_of(tensor)
    found = None if session_graph is None else session_graph(number)
    return graph_numbered(number) if found is None else found


def operation_of(tensor):
    """The operation that makes the tensor."""
    if session_graph is not None and session_graph(_tidemark.graph_id_of(tensor)) is not None:
        from tidemark._v1.graph import operation_of  # it imports this module

        return operation_of(tensor)
    return Operation(tensor)


def name_of(tensor):
    return f"{_tidemark.node_name(tensor)}:{_tidemark.value_index(tensor)}"


def shape_text(tensor):
    shape = tensor.shape
    return "<unknown>" if shape.rank is None else str(shape)


def set_shape(tensor, shape):
    """What is known of the shape, and this."""
    merged = tensor.shape.merge_with(shape)
    if merged.rank is not None:
        _tidemark.set_symbolic_shape(tensor, tuple(merged.as_list()))
