"""What tensors of graphs tell about themselves: name, operation, graph."""

from __future__ import annotations

import weakref

from tidemark import _tidemark

_graphs = weakref.WeakValueDictionary()  # number → FuncGraph
session_graph = None  # the graph of sessions with a number, or None; set beside such graphs


def graph_numbered(number):
    """The one object that stands for a graph."""
    found = None if session_graph is None else session_graph(number)
    found = _graphs.get(number) if found is None else found
    if found is None:
        from tidemark._graph.func_graph import FuncGraph  # few programs ask for graphs

        found = _graphs[number] = FuncGraph.being_traced(number)
    return found


def know_graph(number, graph):
    """Makes an object stand for a graph as long as it lives."""
    _graphs[number] = graph


def graph_of(tensor):
    return graph_numbered(_tidemark.graph_id_of(tensor))


_tensors = weakref.WeakValueDictionary()  # (number of the node, output) → the object programs have


def know_tensor(tensor):
    """Makes the object be found again by its operation, or its name, as long as it lives; gives the
    one that is found."""
    key = (_tidemark.node_of(tensor).sequence, _tidemark.output_index(tensor))
    return _tensors.setdefault(key, tensor)


def output_of(node, index):
    """The tensor that stands for an output of a node."""
    found = _tensors.get((node.sequence, index))
    if found is None:
        found = _tensors[node.sequence, index] = node.output(index)
    return found


def operation_of(tensor):
    """The operation that makes the tensor."""
    from tidemark._graph.operation import Operation  # few programs ask for operations

    know_tensor(tensor)
    return Operation(_tidemark.node_of(tensor))


def consumers_of(tensor):
    """The operations that take a tensor, in the order in which they were made; one that takes it
    twice is there twice."""
    maker, index = operation_of(tensor), _tidemark.value_index(tensor)

    def is_it(other):
        return _tidemark.value_index(other) == index and operation_of(other) == maker

    operations = graph_of(tensor).get_operations()
    return [op for op in operations for given in op.inputs if is_it(given)]


def name_of(tensor):
    know_tensor(tensor)
    return f"{_tidemark.node_name(tensor)}:{_tidemark.value_index(tensor)}"


def shape_text(tensor):
    shape = tensor.shape
    return "<unknown>" if shape.rank is None else str(shape)


def set_shape(tensor, shape):
    """What is known of the shape, and this."""
    merged = tensor.shape.merge_with(shape)
    if merged.rank is not None:
        _tidemark.set_symbolic_shape(tensor, tuple(merged.as_list()))
