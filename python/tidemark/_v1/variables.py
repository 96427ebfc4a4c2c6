"""Variables of a graph: each session has values of its own."""

from __future__ import annotations

import tidemark as tf
from tidemark import _tidemark
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tidemark import Tensor
from tidemark._v1.graph import GraphKeys, Operation, current_place, get_default_graph, name_result
from tidemark.dtypes import as_dtype
from tidemark.tensor_shape import as_shape


def _delegated(name):
    def method(self, *args):
        return getattr(self.value(), name)(*args)

    method.__name__ = name
    return method


class RefVariable:
    """A variable in a graph of TensorFlow 1's kind. Stands for its value wherever a tensor does."""

    __array_priority__ = 100
    __tf_is_tensor__ = True
    is_graph_variable = True

    def __init__(self, initial_value, trainable=True, collections=None, validate_shape=True,
                 name=None, dtype=None, constraint=None, shape=None,
                 synchronization=tf.VariableSynchronization.AUTO,
                 aggregation=tf.VariableAggregation.NONE):  # fmt: skip
        self.synchronization, self.aggregation = synchronization, aggregation
        place = current_place()
        graph = place.graph
        graph.check_not_finalized()
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        place.scope.set_before([])  # the initializer stands by itself
        try:
            value = initial_value() if callable(initial_value) else initial_value
            value = convert_to_tensor(value, dtype=dtype)
            full_name = graph.unique_name(name or "Variable")
            if shape is None:
                shape = value.shape if validate_shape else as_shape(None)
            self._graph, self._name = graph, full_name
            self._trainable, self.constraint = bool(trainable), constraint
            self._initial_value = value
            self._handle = _tidemark.GraphVariable(full_name, value.dtype, shape, self._trainable)
            self._reading = self._handle.read()
            node, self._initialized = self._handle.update("assign", [value], ())
            node.set_name(full_name + "/Assign")
            self._initializer = Operation(node)
        finally:
            place.scope.set_before(place.before)
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if self._trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
        graph.add_to_collections(collections, self)
        graph.know(full_name, self._reading)

    name = property(lambda self: self._name + ":0")
    dtype = property(lambda self: self._reading.dtype)
    shape = property(lambda self: self._reading.shape)
    graph = property(lambda self: self._graph)
    op = property(lambda self: Operation(_tidemark.node_of(self._reading)))
    initializer = property(lambda self: self._initializer)
    initial_value = property(lambda self: self._initial_value)
    trainable = property(lambda self: self._trainable)
    device = ""
    _in_graph_mode = True
    _shared_name = _unique_id = property(lambda self: self._name)

    def numpy(self):
        """Only a session knows its value."""
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def get_shape(self):
        return self.shape

    def to_proto(self, export_scope=None):
        """The nodes of the graph that it is made of, as a message."""
        from tidemark._v1.train.meta_graph import variable_def  # it imports this module

        return variable_def(self)

    @staticmethod
    def from_proto(variable_def, import_scope=None):
        """The variable of this graph that a message tells of."""
        graph = get_default_graph()
        prefix = f"{import_scope}/" if import_scope else ""
        name = prefix + variable_def.variable_name.partition(":")[0]
        known = (item for key in graph.get_all_collection_keys()
                 for item in graph.get_collection(key))  # fmt: skip
        found = [v for v in known if isinstance(v, RefVariable) and v._name == name]
        if not found:
            raise ValueError(f"the graph has no variable {name!r} in its collections")
        made = object.__new__(RefVariable)
        made.__dict__.update(found[0].__dict__, _trainable=variable_def.trainable)
        made.synchronization = tf.VariableSynchronization(variable_def.synchronization)
        made.aggregation = tf.VariableAggregation(variable_def.aggregation)
        return made

    def count_up_to(self, limit):
        """The value, which grows by one up to the limit each time it is run."""
        from tidemark._v1.rarely_used import count_up_to  # few programs ask

        return count_up_to(self, limit)

    def __iter__(self):
        raise TypeError("Iterating over a variable is not allowed in Graph mode: its value is "
                        "known when the graph runs.")  # fmt: skip

    def value(self):
        """The tensor that reads it: one in its graph; functions, branches and loops read it when
        they run, and what is to run after others reads it after them."""
        here = _tidemark.current_graph_id()
        if here == 0:
            return self._reading
        place = current_place()
        is_any_time = here == self._graph._shared.id and not (place and place.before)
        return self._reading if is_any_time else self._handle.read()

    def read_value(self):
        """A reading at this place of the graph."""
        return self._handle.read()

    def sparse_read(self, indices, name=None):
        """Rows of the value: ``tf.gather``."""
        return tf.gather(self.read_value(), indices)

    def gather_nd(self, indices, name=None):
        """Slices of the value: ``tf.gather_nd``."""
        return tf.gather_nd(self.read_value(), indices)

    def initialized_value(self):
        """The initial value."""
        return self._initial_value

    def _as_graph_element(self):
        return self._reading

    def __tf_tensor__(self, dtype=None, name=None):
        if dtype is not None and as_dtype(dtype) != self.dtype:
            raise ValueError(
                f"Incompatible type conversion requested to type {as_dtype(dtype).name!r} for "
                f"variable of type {self.dtype.name!r}"
            )
        return self.value()

    def eval(self, session=None):
        """The value in the session."""
        from tidemark._v1.session import default_session  # it imports this module

        return (session or default_session()).run(self._reading)

    def load(self, value, session=None):
        """Gives it a value in the session."""
        from tidemark._v1.session import default_session  # it imports this module

        session = session or default_session()
        session.run(self._initializer, {self._initial_value: value})

    def _update(self, op, inputs, attrs, name):
        node, value = self._handle.update(op, inputs, attrs)
        name_result(value, name)
        return value

    def _like(self, value):
        if isinstance(value, Tensor) or hasattr(value, "__tf_tensor__"):
            return convert_to_tensor(value)
        return convert_to_tensor(value, dtype=self.dtype)

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """An op that gives it a value, and the value then."""
        value = self._like(value)
        if not self.shape.is_compatible_with(value.shape):
            raise ValueError(f"Shapes {self.shape} and {value.shape} are incompatible")
        return self._update("assign", [value], (), name)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self._update("add", [self._like(delta)], (), name)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self._update("subtract", [self._like(delta)], (), name)

    def _rows(self, sparse_delta):
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(
                f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received: {sparse_delta}"
            )
        indices = convert_to_tensor(sparse_delta.indices)
        rank = indices.shape.rank
        at = _tidemark.call("expand_dims", (indices,), {"axis": -1})
        updates = self._like(sparse_delta.values)
        if updates.shape.rank == 0 and rank is not None:
            size = _tidemark.call("shape", (_tidemark.call("gather_nd", (self.value(), at)),))
            updates = _tidemark.call("broadcast_to", (updates, size))
        return at, updates

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        """An op that replaces rows."""
        return self.scatter_nd_update(*self._rows(sparse_delta), name)

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        """An op that adds to rows."""
        return self.scatter_nd_add(*self._rows(sparse_delta), name)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """An op that subtracts from rows."""
        return self.scatter_nd_sub(*self._rows(sparse_delta), name)

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        """An op after which rows are the larger of themselves and the given ones."""
        inputs = [*self._rows(sparse_delta)]
        return self._update("tensor_scatter_nd_max", inputs, (), name)

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        """An op after which rows are the smaller of themselves and the given ones."""
        inputs = [*self._rows(sparse_delta)]
        return self._update("tensor_scatter_nd_min", inputs, (), name)

    def _scaled(self, op, sparse_delta, name):
        at, updates = self._rows(sparse_delta)
        rows = _tidemark.call(op, (_tidemark.call("gather_nd", (self.value(), at)), updates))
        return self.scatter_nd_update(at, rows, name)

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        """An op that multiplies rows; each index once."""
        return self._scaled("multiply", sparse_delta, name)

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        """An op that divides rows; each index once."""
        return self._scaled("truediv", sparse_delta, name)

    def scatter_nd_update(self, indices, updates, name=None):
        """An op that replaces slices."""
        inputs = [convert_to_tensor(indices), self._like(updates)]
        return self._update("tensor_scatter_nd_update", inputs, (), name)

    def scatter_nd_add(self, indices, updates, name=None):
        """An op that adds to slices."""
        inputs = [convert_to_tensor(indices), self._like(updates)]
        return self._update("tensor_scatter_nd_add", inputs, (), name)

    def scatter_nd_sub(self, indices, updates, name=None):
        """An op that subtracts from slices."""
        inputs = [convert_to_tensor(indices), self._like(updates)]
        return self._update("tensor_scatter_nd_sub", inputs, (), name)

    def set_shape(self, shape):
        if not self.shape.is_compatible_with(as_shape(shape)):
            raise ValueError(f"Shapes {self.shape} and {as_shape(shape)} are incompatible")

    def ref(self):
        return self._reading.ref()

    def __getitem__(self, key):
        return self.value()[key]

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def __bool__(self):
        raise TypeError("a variable of a graph has no truth: use tf.cond")

    def __repr__(self):
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


for _name in [
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "truediv",
    "rtruediv",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "pow",
    "rpow",
    "matmul",
    "rmatmul",
    "neg",
    "abs",
    "lt",
    "le",
    "gt",
    "ge",
    "and",
    "rand",
    "or",
    "ror",
    "xor",
    "rxor",
    "invert",
]:
    setattr(RefVariable, f"__{_name}__", _delegated(f"__{_name}__"))


def variables_initializer(var_list, name="init"):
    """An operation that gives all variables of the list their initial values."""
    from tidemark._v1.scopes import group  # it imports this module

    return group(*[v.initializer for v in var_list], name=name)


def _collection(key, scope=None):
    return get_default_graph().get_collection(key, scope)


def global_variables(scope=None):
    return _collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope=None):
    return _collection(GraphKeys.LOCAL_VARIABLES, scope)


def trainable_variables(scope=None):
    return _collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def global_variables_initializer():
    """An operation that gives all variables of the graph their initial values."""
    return variables_initializer(global_variables(), "init")


def local_variables_initializer():
    return variables_initializer(local_variables())


def is_variable_initialized(variable):
    """Whether the session has a value for the variable, as a tensor."""
    return variable._handle.is_initialized()


def report_uninitialized_variables(var_list=None, name=None):
    """The names of the variables without a value, as a tensor of strings."""
    variables = global_variables() + local_variables() if var_list is None else var_list
    names = tf.constant([v.name.partition(":")[0] for v in variables], dtype=tf.string)
    if not variables:
        return names
    missing = tf.stack([tf.logical_not(is_variable_initialized(v)) for v in variables])
    return tf.boolean_mask(names, missing)
