"""``FuncGraph``: the graph of a function, while it is built and when it is there to look at.

with tf.__internal__.FuncGraph("scratch").as_default():
    x = tf.compat.v1.placeholder(tf.float32, [None, 3])
    (x @ tf.ones([3, 2])).shape                     # (None, 2)
"""

from __future__ import annotations

import contextlib
import sys
import threading

from tidemark import dtypes
from tidemark._graph.scopes import control_dependencies, executing_eagerly
from tidemark._graph.symbolic import know_graph
from tidemark._graph.tracing import building
from tidemark._tensor.creation import convert_to_tensor
from tidemark.config._placement import tell_device
from tidemark.tensor_shape import as_shape, sizes_of

_state = threading.local()


def _builders():
    if not hasattr(_state, "builders"):
        _state.builders = []
    return _state.builders


def current_builder():
    """What builds the innermost scratch graph of this thread, or None."""
    builders = _builders()
    return builders[-1] if builders else None


class FuncGraph:
    """A graph of a function, or one to put ops into under ``as_default``."""

    building_function = True
    collections_of = None  # the graph that holds its collections, if its code has any
    variables = ()  # those that it reads or changes

    trainable_variables = property(lambda self: tuple(v for v in self.variables if v.trainable))

    def __init__(
        self,
        name,
        collections=None,
        capture_by_value=None,
        structured_input_signature=None,
        structured_outputs=None,
    ):
        self.name = name
        self._finished, self._is_being_traced = None, False
        self._call_time_values = {}  # key → what a closure gives in each run
        self._input_names = []

    @classmethod
    def being_traced(cls, number):
        """What stands for the graph with this number, which somebody else builds."""
        made = cls(f"graph_{number}")
        made._is_being_traced = True
        return made

    @classmethod
    def of_trace(cls, trace, input_names):
        """The graph of a traced function; ``input_names``: of the inputs that are arguments."""
        made = cls(trace.name)
        made._finished, made._input_names = trace.graph, input_names
        know_graph(trace.graph.graph_id, made)
        return made

    @contextlib.contextmanager
    def as_default(self):
        """A context in which ops become nodes of this graph."""
        if self._is_being_traced:
            shared = self.collections_of  # with a thread that helps the code being traced
            with contextlib.nullcontext() if shared is None else shared.as_default():
                yield self
            return
        with building(self.name) as builder:
            know_graph(builder.graph_id, self)
            _builders().append(builder)
            try:
                yield self
            finally:
                _builders().pop()

    def unique_name(self, name, mark_as_used=True):
        return name

    def control_dependencies(self, control_inputs):
        """A context whose ops run after the given ones."""
        return control_dependencies(control_inputs)

    def _apply_device_functions(self, op):
        """Tells an operation the device asked for: Keras 2 looks in this way for where it is."""
        tell_device(op)

    def capture_call_time_value(self, closure, spec, key=None, default_value=None,
                                placeholder=None):  # fmt: skip
        """What the closure gives whenever the function runs, as a value of the spec; those with one
        key share the first closure."""
        if key is not None and key in self._call_time_values:
            return self._call_time_values[key]
        found = _call_time_value(closure, spec)
        if key is not None:
            self._call_time_values[key] = found
        return found

    def _get_control_flow_context(self):
        """Branches and loops are steps of their own; none is around this graph."""
        return None

    @property
    def _graph(self):
        if self._finished is None:
            raise ValueError(f"The graph {self.name!r} is still being built.")
        return self._finished

    def get_operations(self):
        """The operations, in the order in which they run."""
        from tidemark._graph.operation import Operation  # few programs ask for operations

        return [Operation(node) for node, _ in self._graph.handle.nodes()]

    def get_operation_by_name(self, name):
        """The operation of this name."""
        for operation in self.get_operations():
            if operation.name == name:
                return operation
        raise KeyError(f"The name '{name}' refers to an Operation not in the graph.")

    def get_tensor_by_name(self, name):
        """The tensor ``operation:0`` of this name."""
        operation, _, index = name.partition(":")
        if not index.isdigit():
            raise ValueError(f"The name '{name}' refers to an Operation, not a Tensor: tensors are "
                             "named like 'operation:0'.")  # fmt: skip
        outputs = self.get_operation_by_name(operation).outputs
        if int(index) >= len(outputs):
            raise KeyError(f"The name '{name}' refers to a Tensor which does not exist: "
                           f"{operation} has {len(outputs)} outputs.")  # fmt: skip
        return outputs[int(index)]

    def get_collection(self, name, scope=None):
        """What the code of TensorFlow 1 that made the graph put into a collection."""
        return (
            [] if self.collections_of is None else self.collections_of.get_collection(name, scope)
        )

    def as_graph_def(self, from_version=None, add_shapes=False, use_pybind11_proto=False):
        """The graph as TensorFlow's ``GraphDef``, what branches and loops run in its library."""
        from tidemark._v1.graph_def.exporting import export_function_graph  # loaded on first use

        graph = self._graph
        rest = ["captured"] * (graph.num_inputs - len(self._input_names))
        return export_function_graph(graph.handle, [*self._input_names, *rest], add_shapes)

    def view(self):
        """The graph as it was traced, to draw."""
        from tidemark._functions.graph_view import GraphView  # few programs draw graphs

        return GraphView(self.name, self._graph.outline(self.name, None))

    def to_dot(self):
        """The graph in Graphviz's language."""
        return self.view().to_dot()

    def to_svg(self):
        """The graph as a picture."""
        return self.view().to_svg()

    _repr_svg_ = to_svg

    outputs = property(lambda self: self._graph.outputs)

    def __repr__(self):
        return f"FuncGraph(name={self.name})" if self._finished is None else str(self._finished)


def _call_time_value(closure, spec):
    from tidemark._graph.staged import python_call  # few programs ask
    from tidemark.data._elements import flat_specs, pack  # few programs ask
    from tidemark.data._traced import flat  # few programs ask

    specs = flat_specs(spec)

    def now():
        tensors = [convert_to_tensor(leaf) for leaf in flat(closure())]
        fits = len(tensors) == len(specs)
        if not fits or not all(s.is_compatible_with(t)
                               for s, t in zip(specs, tensors, strict=True)):  # fmt: skip
            raise TypeError(f"Can not cast {tensors} to {spec}")
        return tensors

    types = [(s.dtype, sizes_of(s.shape)) for s in specs]
    return pack(spec, python_call(now, [], types))


def placeholder(dtype, shape):
    """An input of the scratch graph around this place; None if there is none."""
    builder = current_builder()
    if builder is None:
        return None
    return builder.add_input(dtypes.as_dtype(dtype), as_shape(shape))


def sparse_placeholder(dtype, shape):
    """As placeholder, for a sparse tensor."""
    from tidemark.sparse._tensor import SparseTensor  # loaded on first use

    if current_builder() is None:
        return None
    shape = as_shape(shape)
    rank = shape.rank
    parts = (
        placeholder(dtypes.int64, [None, rank]),
        placeholder(dtype, [None]),
        placeholder(dtypes.int64, [rank]),
    )
    made = SparseTensor(*parts)
    made.set_shape(shape)
    return made


def inside_function():
    """Whether ops become nodes of a function here: not eagerly, nor in a graph of sessions."""
    if executing_eagerly():
        return False
    of_sessions = sys.modules.get("tidemark._v1.graph")  # where it is not loaded, there are none
    return of_sessions is None or of_sessions.current_place() is None
