"""``tf.Operation``: a node of a graph, a function's or a session's."""

from __future__ import annotations

import weakref

from tidemark import _tidemark
from tidemark._graph import symbolic
from tidemark._v1.graph_def import table


class Operation:
    """A node of a graph."""

    __slots__ = ("_node", "__weakref__")
    _alive = weakref.WeakValueDictionary()  # number of the node → the one object that stands for it

    def __new__(cls, node):
        found = cls._alive.get(node.sequence)
        if found is None:
            found = super().__new__(cls)
            found._node = node
            cls._alive[node.sequence] = found
        return found

    type = property(lambda self: table.type_of(self._node))
    graph = property(lambda self: symbolic.graph_numbered(self._node.graph_id))
    control_inputs = property(lambda self: [Operation(node) for node in self._node.before])
    place = property(lambda self: self._node.place)
    device = ""

    @property
    def inputs(self):
        """The tensors it takes; in graphs of sessions without constants, which nothing makes."""
        of_function = self.graph.building_function
        given = (t for t in self._node.inputs if of_function or _tidemark.is_symbolic(t))
        return tuple(symbolic.know_tensor(t) if _tidemark.is_symbolic(t) else t for t in given)

    @property
    def name(self):
        """Its own; a node of a function gets one when somebody asks."""
        node = self._node
        if not node.label and node.num_outputs:
            return _tidemark.node_name(node.output(0))
        return node.label or f"{node.kind}_{node.sequence}"

    @property
    def node_def(self):
        """The operation as TensorFlow writes it."""
        from tidemark._v1.graph_def.exporting import node_def_of  # few programs write graphs

        for operation in (self, *self.control_inputs, *map(Operation, self._makers())):
            operation.name  # noqa: B018  nodes of functions have one from when it is asked for
        return node_def_of(self._node)

    @property
    def op_def(self):
        """What operations of this type look like."""
        from tidemark._v1.graph_def.op_defs import op_def_message  # few programs write graphs

        return op_def_message(self.type)

    def _makers(self):
        """The nodes that make its inputs."""
        return [_tidemark.node_of(t) for t in self._node.inputs if _tidemark.is_symbolic(t)]

    def get_attr(self, name):
        """The value of an attribute, under TensorFlow's name; in functions under ours, too."""
        from tidemark._v1.graph_def.exporting import attr_value  # few programs write graphs

        if self.graph.building_function:
            own = self._node.attrs
            if name in own:
                return own[name]
        return attr_value(self.node_def, name)

    def values(self):
        return tuple(self.outputs)

    def colocation_groups(self):
        """Itself: where it runs is not asked of others."""
        return [b"loc:@" + self.name.encode()]

    @property
    def traceback(self):
        """The line of the program that made it."""
        return self._node.place

    @property
    def outputs(self):
        return [symbolic.output_of(self._node, i) for i in range(self._node.num_outputs)]

    @property
    def _control_outputs(self):
        """The operations that run after it without taking what it gives."""
        return [op for op in self.graph.get_operations() if self in op.control_inputs]

    def run(self, feed_dict=None, session=None):
        """Runs it in the default session."""
        from tidemark._v1.session import default_session  # it imports this module

        (session or default_session()).run(self, feed_dict)

    def __eq__(self, other):
        if not isinstance(other, Operation):
            return NotImplemented
        return self._node.sequence == other._node.sequence

    def __hash__(self):
        return hash(self._node.sequence)

    def __repr__(self):
        return f"<tf.Operation {self.name!r} type={self.type}>"
