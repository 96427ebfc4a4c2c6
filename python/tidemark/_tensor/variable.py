"""``tf.Variable``: a value that changes, updated in place where nobody else shares it."""

from __future__ import annotations

import enum
import weakref

import numpy as np

from tidemark import _tidemark
from tidemark._export import export
from tidemark._graph.scopes import creators, eager_mode, get_current_name_scope
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tensor.indexing import getitem, slice_spec
from tidemark._tensor.methods import Reference, _numpy_text
from tidemark._tidemark import call, convert
from tidemark.dtypes import as_dtype
from tidemark.errors import OutOfRangeError
from tidemark.tensor_shape import as_shape

_by_id = weakref.WeakValueDictionary()  # of live variables


@export("tf.VariableSynchronization")
class VariableSynchronization(enum.Enum):
    """When a variable of several replicas is synchronized."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


@export("tf.VariableAggregation")
class VariableAggregation(enum.Enum):
    """How the updates of several replicas are put together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3  # what TensorFlow 1 calls it


def variable_with_id(number):
    """The live variable with this id, or None."""
    return _by_id.get(number)


def _variable_of_graph(args, kwargs):
    """A variable of the graph that a session will run, where this thread builds one."""
    from tidemark._v1.graph import is_building  # only sessions need it

    if not is_building():
        return None
    from tidemark._v1.variables import RefVariable  # only sessions need it

    names = (
        "initial_value",
        "trainable",
        "collections",
        "validate_shape",
        "caching_device",
        "name",
    )
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    accepted = ("initial_value", "trainable", "collections", "validate_shape", "name", "dtype",
                "constraint", "shape", "synchronization", "aggregation")  # fmt: skip
    if given.get("variable_def") is not None:
        return RefVariable.from_proto(given["variable_def"], given.get("import_scope"))
    chosen = {key: value for key, value in given.items() if key in accepted}
    if chosen.get("trainable") is None:
        chosen["trainable"] = chosen.get("synchronization") != VariableSynchronization.ON_READ
    return RefVariable(**chosen)


class _VariableType(type):
    """Lets the creators of ``tf.variable_creator_scope`` answer ``tf.Variable(...)``."""

    def __instancecheck__(cls, instance):
        # A variable of a graph for sessions is a tf.Variable, too.
        if type.__instancecheck__(cls, instance):
            return True
        kind = type(instance)  # so is one that each replica of a strategy has for itself
        return cls is Variable and (
            getattr(kind, "is_graph_variable", False)
            or getattr(kind, "is_replicated_variable", False)
        )

    def __call__(cls, *args, **kwargs):
        stack = creators() if cls is Variable else ()
        if cls is Variable and _tidemark.is_tracing() and not stack:
            made = _variable_of_graph(args, kwargs)
            if made is not None:
                return made
        if not stack:
            return super().__call__(*args, **kwargs)
        kwargs = _all_arguments(args, kwargs)

        def make(**given):
            made = _variable_of_graph((), given) if _tidemark.is_tracing() else None
            if made is None:
                for key in ("collections", "use_resource"):  # of variables of graphs
                    given.pop(key, None)
            return type.__call__(cls, **given) if made is None else made

        for creator in stack:  # the innermost scope, entered last, is asked first
            make = _asking(creator, make)
        return make(**kwargs)


def _all_arguments(args, kwargs):
    """The arguments of ``tf.Variable`` by name, those left out, too: creators look for them."""
    code, defaults = Variable.__init__.__code__, Variable.__init__.__defaults__
    names = code.co_varnames[1 : code.co_argcount]
    return {**dict(zip(names, defaults, strict=True)), **dict(zip(names, args, strict=False)),
            **kwargs}  # fmt: skip


class _SaveSliceInfo:
    """``Variable.SaveSliceInfo``, loaded where it is asked for."""

    def __get__(self, variable, kind):
        from tidemark._tensor.save_slice import SaveSliceInfo  # few programs ask

        return SaveSliceInfo


def _operator_of_value(name):
    def operator(self, *args, **kwargs):
        return getattr(self.value(), name)(*args, **kwargs)

    operator.__name__ = name
    return operator


def _initial_value(given, value_of=_tidemark.evaluate):
    """The value itself: called where it is a function, computed where it is part of a graph."""
    if callable(given) and not isinstance(given, (_tidemark.VariableBase, _tidemark.Tensor)):
        given = given()
    return value_of(given) if isinstance(given, _tidemark.Tensor) else given


def _asking(creator, next_creator):
    return lambda **kwargs: creator(next_creator, **kwargs)


@export("tf.Variable")
class Variable(_tidemark.VariableBase, metaclass=_VariableType):
    """A tensor-like value that ``assign`` and its kin change.

    Accepted wherever a tensor is. Tensors read from it never change. Its memory goes when the last
    reference goes.
    """

    def __init__(
        self,
        initial_value=None,
        trainable=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        variable_def=None,
        dtype=None,
        import_scope=None,
        constraint=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
        experimental_enable_variable_lifting=True,
    ):
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are "
                "not providing a `variable_def`. You provided neither."
            )
        if _tidemark.is_tracing():
            # Only functions need it.
            from tidemark._functions.function import check_may_create_variable, value_in_call

            check_may_create_variable()
            with eager_mode():
                initial_value = _initial_value(initial_value, value_in_call)
                return self._make(initial_value, trainable, validate_shape, name, dtype, constraint,
                                  synchronization, aggregation, shape)  # fmt: skip
        initial_value = _initial_value(initial_value)
        self._make(initial_value, trainable, validate_shape, name, dtype, constraint,
                   synchronization, aggregation, shape)  # fmt: skip

    def _make(
        self, initial_value, trainable, validate_shape, name, dtype, constraint, synchronization,
        aggregation, shape,
    ):  # fmt: skip
        enum_number = 0 if dtype is None else as_dtype(dtype)._enum
        try:
            is_tensor = isinstance(initial_value, (_tidemark.Tensor, _tidemark.VariableBase))
            value = convert(initial_value, enum_number, None, not is_tensor)  # arrays change
        except ValueError as error:
            raise ValueError(f"initial_value: {error}") from None
        if shape is not None:
            given, shape = shape, as_shape(shape)
            if not shape.is_compatible_with(value.shape):
                raise ValueError(
                    "In this `tf.Variable` creation, the initial value's shape "
                    f"({value.shape}) is not compatible with the explicitly supplied `shape` "
                    f"argument ({given})."
                )
        elif not validate_shape:
            shape = as_shape(None)
        scope = get_current_name_scope()
        name = name or "Variable"
        full_name = f"{scope}/{name}" if scope else name
        if trainable is None:  # what replicas add up when it is read is no parameter
            trainable = synchronization != VariableSynchronization.ON_READ
        self._create(value, full_name, bool(trainable), shape)
        self._shared_name = full_name
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        self._constraint = constraint
        self._synchronization = synchronization
        self._aggregation = aggregation
        _by_id[self._id] = self

    @classmethod
    def _OverloadAllOperators(cls):
        """Gives a class of variables, which tells its value by ``value()``, a tensor's operators;
        packages call it for classes of their own."""
        for name in _tidemark.Tensor.OVERLOADABLE_OPERATORS:
            setattr(cls, name, _operator_of_value(name))

    # --- what it is ---------------------------------------------------------------------------

    name = property(lambda self: self._shared_name + ":0")
    _handle_name = name
    _unique_id = property(lambda self: f"{self._shared_name}_{self._id & ~(1 << 63)}")
    constraint = property(lambda self: self._constraint)
    synchronization = property(lambda self: self._synchronization)
    aggregation = property(lambda self: self._aggregation)
    device = property(lambda self: self._operand().device)
    initializer = property(lambda self: None)

    @property
    def handle(self):
        """Stands for the variable itself, as a key and in comparisons."""
        if not self._is_made:  # an object that stands for another variable says for which
            raise AttributeError("handle: the variable has no value yet")
        return Reference(self)

    @property
    def initial_value(self):
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    @property
    def op(self):
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self):
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    def get_shape(self):
        """The shape of what may be assigned."""
        return self.shape

    def set_shape(self, shape):
        """Checks that the variable's shape is compatible with the given one."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Shapes {self.shape} and {as_shape(shape)} are incompatible")

    def is_initialized(self, name=None):
        """True: a variable has a value from its creation on."""
        return convert(True)

    def ref(self):
        """A hashable reference to the variable."""
        return Reference(self)

    experimental_ref = ref

    def __repr__(self):
        if _tidemark.is_tracing():  # its value is not known, or not now
            return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"
        text = _numpy_text(self._operand(), is_repr=True).lstrip("\n")
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, numpy={text}>"
        )

    # --- reading ------------------------------------------------------------------------------

    def read_value(self):
        """The value now, as a tensor that never changes."""
        return self.value()

    read_value_no_copy = read_value

    def __tf_tensor__(self, dtype=None, name=None):
        return convert(self, 0 if dtype is None else as_dtype(dtype)._enum)

    def numpy(self):
        """A copy of the value as a NumPy array."""
        value = self._operand()
        if _tidemark.is_symbolic(value):
            raise NotImplementedError(
                "numpy() is only available when eager execution is enabled: inside of a graph a "
                "variable has no value yet; run the graph, or use TensorFlow operations instead"
            )
        return value.numpy()

    def __array__(self, dtype=None, copy=None):
        array = np.asarray(self.numpy())
        return array if dtype is None else array.astype(dtype)

    def eval(self, session=None):
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    SaveSliceInfo = _SaveSliceInfo()

    def initialized_value(self):
        raise NotImplementedError

    def to_proto(self, export_scope=None):
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    def sparse_read(self, indices, name=None):
        """Rows of the value: ``tf.gather``."""
        return call("gather", (self, indices), {"axis": 0})

    def gather_nd(self, indices, name=None):
        """Slices of the value: ``tf.gather_nd``."""
        return call("gather_nd", (self, indices), {})

    def __getitem__(self, key):
        operand = self._operand()
        item = getitem(operand, key)
        if item is operand:
            item = self.value()
        item.assign = _SliceAssign(self, key)
        return item

    def __iter__(self):
        return iter(self.value())

    def __bool__(self):
        return bool(self._operand())

    def __int__(self):
        return int(self._operand())

    def __float__(self):
        return float(self._operand())

    def __complex__(self):
        return complex(self._operand())

    def __index__(self):
        return self._operand().__index__()

    def __round__(self, ndigits=None):
        return round(self._operand(), ndigits) if ndigits else round(self._operand())

    @property
    def _trainable(self):
        """What programs freeze variables with; before there is a variable, an attribute."""
        return self.trainable if self._is_made else vars(self)["_trainable"]

    @_trainable.setter
    def _trainable(self, value):
        if self._is_made:
            self._set_trainable(value)
        else:
            vars(self)["_trainable"] = value

    # --- writing ------------------------------------------------------------------------------

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Replaces the value."""
        value = convert(value, self.dtype._enum, None, False)
        if not self.shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch."
                f"The variable shape {self.shape}, and the assigned value shape {value.shape} are "
                "incompatible."
            )
        self._assign(value)
        return self if read_value else None

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Adds to the value, in place."""
        self._assign_add(delta)
        return self if read_value else None

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtracts from the value, in place."""
        self._assign_sub(delta)
        return self if read_value else None

    def load(self, value, session=None):
        """Replaces the value."""
        self.assign(value)

    def count_up_to(self, limit):
        """The value, which grows by one up to the limit."""
        before = self.value()
        if int(before) >= limit:
            raise OutOfRangeError(None, None, f"Reached limit of {limit}")
        self._assign_add(convert(1, self.dtype._enum))
        return before

    def _rows(self, sparse_delta):
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(
                f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: "
                f"{sparse_delta}"
            )
        indices = convert(sparse_delta.indices)
        positions = call("expand_dims", (indices,), {"axis": -1})
        updates = convert(sparse_delta.values, self.dtype._enum, None, False)
        wanted = indices.shape.as_list() + self._operand().shape.as_list()[1:]
        if updates.shape.as_list() != wanted:
            updates = call("broadcast_to", (updates, wanted), {})
        return positions, updates

    def _scatter(self, op, indices, updates):
        updates = convert(updates, self.dtype._enum, None, False)
        self._update(op, (convert(indices), updates))
        return self

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Replaces rows of the value."""
        return self._scatter("tensor_scatter_nd_update", *self._rows(sparse_delta))

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        """Adds to rows of the value."""
        return self._scatter("tensor_scatter_nd_add", *self._rows(sparse_delta))

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """Subtracts from rows of the value."""
        return self._scatter("tensor_scatter_nd_sub", *self._rows(sparse_delta))

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        """Rows become the larger of themselves and the given ones."""
        return self._scatter("tensor_scatter_nd_max", *self._rows(sparse_delta))

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        """Rows become the smaller of themselves and the given ones."""
        return self._scatter("tensor_scatter_nd_min", *self._rows(sparse_delta))

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        """Multiplies rows of the value, one after the other."""
        return self._one_by_one("multiply", sparse_delta)

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        """Divides rows of the value, one after the other."""
        return self._one_by_one("truediv", sparse_delta)

    def _one_by_one(self, op, sparse_delta):
        positions, updates = self._rows(sparse_delta)
        row = updates.shape.as_list()[positions.ndim - 1 :]
        positions = call("reshape", (positions, (-1, 1)), {})
        updates = call("reshape", (updates, [-1, *row]), {})
        for i in range(positions.shape[0]):  # a row may be named twice
            at = positions[i : i + 1]
            changed = call(op, (call("gather_nd", (self._operand(), at), {}), updates[i : i + 1]))
            self._update("tensor_scatter_nd_update", (at, changed))
        return self

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Replaces rows inside of batches: the leading dimensions of the indices count batches."""
        if not isinstance(sparse_delta, IndexedSlices):
            return self._rows(sparse_delta)
        indices = convert(sparse_delta.indices)
        batch = indices.shape.as_list()[:-1]
        grids = [
            call("broadcast_to", (
                call("reshape", (
                    call("cast", (list(range(size)),), {"dtype": indices.dtype._enum}),
                    [-1 if k == axis else 1 for k in range(indices.ndim)],
                ), {}),
                indices.shape.as_list(),
            ), {})
            for axis, size in enumerate(batch)
        ]  # fmt: skip
        positions = call("stack", ([*grids, indices],), {"axis": -1})
        return self._scatter("tensor_scatter_nd_update", positions, sparse_delta.values)

    def scatter_nd_update(self, indices, updates, name=None):
        """Replaces slices of the value."""
        return self._scatter("tensor_scatter_nd_update", indices, updates)

    def scatter_nd_add(self, indices, updates, name=None):
        """Adds to slices of the value."""
        return self._scatter("tensor_scatter_nd_add", indices, updates)

    def scatter_nd_sub(self, indices, updates, name=None):
        """Subtracts from slices of the value."""
        return self._scatter("tensor_scatter_nd_sub", indices, updates)

    def scatter_nd_max(self, indices, updates, name=None):
        """Slices become the larger of themselves and the given ones."""
        return self._scatter("tensor_scatter_nd_max", indices, updates)

    def scatter_nd_min(self, indices, updates, name=None):
        """Slices become the smaller of themselves and the given ones."""
        return self._scatter("tensor_scatter_nd_min", indices, updates)

    # --- copies -------------------------------------------------------------------------------

    def _arguments(self):
        return {
            "trainable": self.trainable,
            "name": self._shared_name,
            "constraint": self._constraint,
            "synchronization": self._synchronization,
            "aggregation": self._aggregation,
            "shape": self.shape,
        }

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        copy = Variable(self.value(), **self._arguments())  # shared until either is written
        memo[id(self)] = copy
        return copy

    def __reduce__(self):
        shape = None if self.shape.rank is None else self.shape.as_list()
        state = {**self._arguments(), "shape": shape}
        return _unpickle, (self.value(), state)


def _unpickle(value, arguments):
    return Variable(value, **{**arguments, "shape": as_shape(arguments["shape"])})


class _SliceAssign:
    """``variable[key].assign(value)``."""

    __slots__ = ("_key", "_variable")

    def __init__(self, variable, key):
        self._variable, self._key = variable, key

    def __call__(self, value, name=None):
        variable = self._variable
        value = convert(value, variable.dtype._enum, None, False)
        begin, end, strides, masks = slice_spec(self._key)
        inputs = (convert(begin), convert(end), convert(strides), value)
        variable._update("tensor_strided_slice_update", inputs, masks)
        return variable
