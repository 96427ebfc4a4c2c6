"""``tf.Graph``, its operations, and which graph this thread builds."""

from __future__ import annotations

import contextlib
import difflib
import re
import threading
import weakref

from tidemark import _tidemark
from tidemark._graph import scopes, symbolic
from tidemark._graph.operation import Operation
from tidemark._graph.scopes import control_dependencies, get_current_name_scope, name_scope
from tidemark._graph.symbolic import graph_numbered, operation_of
from tidemark._graph.tracing import call_functions_in_python
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tidemark import Tensor
from tidemark._v1.graph_def import table
from tidemark.config._placement import tell_device
from tidemark.random import _state as random_state

_VALID_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_thread = threading.local()


class GraphKeys:
    """Names of the collections that everybody uses."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVERS = "savers"
    SAVEABLE_OBJECTS = "saveable_objects"
    REGULARIZATION_LOSSES = "regularization_losses"
    GLOBAL_STEP = "global_step"
    TRAIN_OP = "train_op"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    SUMMARY_OP = "summary_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


_graphs = weakref.WeakValueDictionary()  # id → Graph
_NAMES = _tidemark.NamesOfKinds(table.default_names())  # what operations are called unless named


def graph_with_id(number):
    """The live graph with this id."""
    return _graphs.get(number)


class Graph:
    """Tensors and operations that sessions run. A node nothing refers to is gone."""

    def __init__(self):
        self._shared = _tidemark.SharedGraph("graph", _NAMES)
        self._named = {}  # name given by the user → Operation, which stays
        self._collections = {}
        self._lock = threading.RLock()
        self.seed = None
        self._num_draws = 0
        self._unfeedable, self._unfetchable = set(), set()
        _graphs[self._shared.id] = self

    # --- building ----------------------------------------------------------------------------

    @contextlib.contextmanager
    def as_default(self):
        """A context in which this thread's calls become nodes of the graph."""
        with entered(self):
            yield self

    def finalize(self):
        """From now on the graph takes no new nodes."""
        self._shared.finalize()

    finalized = property(lambda self: self._shared.is_finalized)
    building_function = False

    def check_not_finalized(self):
        if self.finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def unique_name(self, name, mark_as_used=True):
        """The name inside the current scope, with a number where it is taken."""
        scope = get_current_name_scope()
        full = f"{scope}/{name}" if scope else name
        with self._lock:
            if mark_as_used:
                return self._shared.unique_name(full)
            count = 0
            while self._shared.find(name := f"{full}_{count}" if count else full) is not None:
                count += 1
            return name

    def _get_control_flow_context(self):
        """Branches and loops are steps of their own; none is around this graph."""
        return None

    def name_scope(self, name):
        """A context whose name stands before the names made inside it."""
        return name_scope(name or "")

    def label(self, operation, name):
        """Gives a node the user's name, under which it stays."""
        if not _VALID_NAME.match(name):
            raise ValueError(f"'{name}' is not a valid scope name")
        scope = get_current_name_scope()
        operation._node.set_name(f"{scope}/{name}" if scope else name)
        full = operation.name
        with self._lock:
            self._named[full] = operation
        return full

    def know(self, full_name, tensor):
        """Makes a tensor's operation be found under a name that is its own already."""
        operation = operation_of(tensor)
        operation._node.label = full_name
        with self._lock:
            self._named[full_name] = operation

    def device(self, device_name_or_function):
        """A context for ops of a device; there is one."""
        return contextlib.nullcontext()

    def control_dependencies(self, control_inputs):
        return control_dependencies(control_inputs)

    def _apply_device_functions(self, op):
        """Tells an operation the device asked for: Keras 2 looks in this way for where it is."""
        tell_device(op)

    @contextlib.contextmanager
    def colocate_with(self, op, ignore_existing=False):
        """A context for operations that run where another does; there is one place."""
        if op is None and not ignore_existing:
            raise ValueError(
                "Trying to reset colocation (op is None) but ignore_existing is not True"
            )
        if op is not None:
            self.as_graph_element(op)
        yield

    @contextlib.contextmanager
    def container(self, container_name):
        """A context for what is kept apart by name; each session keeps its own."""
        yield container_name

    def create_op(self, op_type, inputs, dtypes=None, input_types=None, name=None, attrs=None,
                  op_def=None, compute_shapes=True, compute_device=True):  # fmt: skip
        """An operation of a type of TensorFlow's, by its inputs and attributes."""
        from tidemark._v1.graph_def.raw_calls import create  # few programs make operations so

        with self.as_default():
            return create(self, op_type, list(inputs), dict(attrs or {}), name)

    def prevent_feeding(self, tensor):
        """From now on no run may give the tensor another value."""
        self._unfeedable.add(operation_of(tensor))

    def prevent_fetching(self, op):
        """From now on no run may ask for the operation."""
        self._unfetchable.add(op)

    def is_feedable(self, tensor):
        return operation_of(self.as_graph_element(tensor)) not in self._unfeedable

    def is_fetchable(self, tensor_or_op):
        if isinstance(tensor_or_op, Tensor):
            return operation_of(tensor_or_op) not in self._unfetchable
        return tensor_or_op not in self._unfetchable

    def switch_to_thread_local(self):
        """Scopes are each thread's own from the start."""

    # --- looking things up -------------------------------------------------------------------

    def get_operation_by_name(self, name):
        """The operation with the name a user gave it."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings, not {type(name).__name__}.")
        found = self._named.get(name)
        if found is None:
            node = self._shared.find(name)
            found = None if node is None else Operation(node)
        if found is None:
            near = difflib.get_close_matches(name, [op.name for op in self.get_operations()], 5)
            raise KeyError(
                f"The name {name!r} refers to an Operation not in the graph. "
                f"{'Close to it are: ' + ', '.join(near) if near else 'No name is close to it'}. "
                "Operations that nothing refers to and that were given no name are forgotten."
            )
        return found

    def get_tensor_by_name(self, name):
        """The tensor ``operation:number``."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings, not {type(name).__name__}.")
        operation, _, index = name.partition(":")
        if not index.isdigit():
            raise ValueError(
                f"The name {name!r} refers to an Operation, not a Tensor. Tensor names must be of "
                'the form "<op_name>:<output_index>".'
            )
        found = self.get_operation_by_name(operation)
        if int(index) >= found._node.num_outputs:
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                f"{operation!r}, exists but only has {found._node.num_outputs} outputs."
            )
        return symbolic.output_of(found._node, int(index))

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """What a fetch or feed means: a tensor, an operation, or the name of one."""
        if isinstance(obj, str):
            return self.get_tensor_by_name(obj) if ":" in obj else self.get_operation_by_name(obj)
        as_element = getattr(obj, "_as_graph_element", None)
        if as_element is not None:
            obj = as_element()
        if isinstance(obj, Tensor):
            if _tidemark.is_symbolic(obj) and _tidemark.graph_id_of(obj) != self._shared.id:
                raise ValueError(f"Tensor {obj!r} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation):
            if obj._node.graph_id != self._shared.id:
                raise ValueError(f"Operation {obj!r} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a Tensor or Operation.")

    def get_operations(self):
        """The operations that are alive, in the order in which they were made."""
        return [Operation(node) for node in self._shared.nodes()]

    def as_graph_def(self, from_version=None, add_shapes=False, use_pybind11_proto=False):
        """The graph as TensorFlow's ``GraphDef``: the operations that are alive."""
        from tidemark._v1.graph_def.exporting import export_graph  # loaded on first use

        return export_graph(self, add_shapes)

    # --- collections -------------------------------------------------------------------------

    def add_to_collection(self, name, value):
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
        for name in [names] if isinstance(names, str) else set(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name):
        return self._collections.setdefault(name, [])

    def get_collection(self, name, scope=None):
        """The values in the collection; with a scope those whose name starts so."""
        values = list(self._collections.get(name, ()))
        if scope is None:
            return values
        pattern = re.compile(scope)
        return [v for v in values if hasattr(v, "name") and pattern.match(v.name)]

    def get_all_collection_keys(self):
        return [name for name in self._collections if isinstance(name, str)]

    def clear_collection(self, name):
        self._collections.pop(name, None)

    collections = property(lambda self: self.get_all_collection_keys())
    operations = property(lambda self: self.get_operations())

    def num_operations(self):
        return len(self._shared.nodes())

    def get_name_scope(self):
        """The scope of names that this thread is in."""
        return get_current_name_scope()

    def op_def_for_type(self, type):
        """What operations of the type look like."""
        from tidemark._v1.graph_def.op_defs import op_def_message  # few programs write graphs

        return op_def_message(type)

    @property
    def graph_def_versions(self):
        """The versions of the format that its GraphDef has."""
        return self.as_graph_def().versions

    @property
    def version(self):
        """Grows with every operation."""
        nodes = self._shared.nodes()
        return nodes[-1].sequence if nodes else 0

    def __repr__(self):
        return f"<tf.Graph with {len(self._named)} named operations>"


# --- the graph of this thread --------------------------------------------------------------------


class _Place:
    """One entry of a thread's stack of graphs."""

    __slots__ = ("graph", "scope", "before", "names", "outer_names")

    def __init__(self, graph):
        self.graph = graph
        self.scope = _tidemark.GraphScope(graph._shared)
        self.before = []
        # The scopes of names that this thread is in, in this graph.
        inner = next((place for place in reversed(_stack()) if place.graph is graph), None)
        self.names = [] if inner is None else list(inner.names)


def _stack():
    if not hasattr(_thread, "stack"):
        _thread.stack = []
    return _thread.stack


@contextlib.contextmanager
def entered(graph):
    """This thread builds the graph inside the context."""
    place = enter(graph)
    try:
        yield place
    finally:
        leave(place)


def enter(graph):
    naming.install()
    place = _Place(graph)
    place.scope.enter()
    place.outer_names = scopes.exchange_names(place.names)
    _stack().append(place)
    call_functions_in_python(True)
    return place


def leave(place):
    stack = _stack()
    if place in stack:
        if place is stack[-1]:
            scopes.exchange_names(place.outer_names)
        else:  # the one entered after it goes back to where this one came from
            stack[stack.index(place) + 1].outer_names = place.outer_names
        stack.remove(place)
        call_functions_in_python(False)
    place.scope.exit()


def current_place():
    """Where this thread builds a graph of TensorFlow 1's kind; None: it does not."""
    stack = _stack()
    if not stack or not _tidemark.is_tracing():
        return None
    place = stack[-1]
    return place if _tidemark.current_graph_id() == place.graph._shared.id else None


def graph_of_sessions():
    """The graph that this thread has entered, whatever is traced inside of it; None: none."""
    stack = _stack()
    return stack[-1].graph if stack else None


def is_building():
    return current_place() is not None


class _Global:
    graph = None
    is_eager_off = False
    lock = threading.Lock()


def has_own_collections():
    """Whether a function is traced here whose collections and variables are its own."""
    return bool(getattr(_thread, "holders", None)) and current_place() is None


@contextlib.contextmanager
def collecting_in(holder):
    """A context in which functions that are traced have another graph's collections."""
    outer = getattr(_thread, "holders", ())
    _thread.holders = (*outer, holder)
    try:
        yield holder
    finally:
        _thread.holders = outer


def get_default_graph():
    """The graph of this thread's context, else the one of the process."""
    if has_own_collections():
        return _thread.holders[-1]
    stack = _stack()
    if stack:
        return stack[-1].graph
    with _Global.lock:
        if _Global.graph is None:
            _Global.graph = Graph()
        return _Global.graph


def graph_being_built():
    """The graph that calls add to here: a function's while it is traced, else the default one."""
    if _tidemark.is_tracing() and current_place() is None:
        graph = graph_numbered(_tidemark.current_graph_id())
        if has_own_collections():
            graph.collections_of = _thread.holders[-1]
        return graph
    return get_default_graph()


def reset_default_graph():
    """Forgets the process's default graph; the next question makes a new one."""
    stack = _stack()
    if stack and not (len(stack) == 1 and stack[0] is getattr(_thread, "lasting", None)):
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs.")
    with _Global.lock:
        _Global.graph = Graph()
    if stack:
        leave(stack[0])
        _thread.lasting = enter(_Global.graph)


def disable_eager_execution():
    """From now on calls become nodes of the default graph: on this thread and on new ones."""
    _Global.is_eager_off = True
    _enter_for_good()
    if threading.Thread._bootstrap_inner is not _run_thread:
        threading.Thread._bootstrap_inner = _run_thread


def _enter_for_good():
    if getattr(_thread, "lasting", None) is None and not _stack():
        _thread.lasting = enter(get_default_graph())


_run_plainly = threading.Thread._bootstrap_inner  # also for subclasses with a run of their own


def _run_thread(self):
    """A thread's work; it starts in the default graph while eager execution is off."""
    if _Global.is_eager_off:
        _enter_for_good()
    _run_plainly(self)


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Calls compute at once, as they do unless told otherwise."""
    _Global.is_eager_off = False
    lasting = getattr(_thread, "lasting", None)
    if lasting is not None:
        leave(lasting)
        _thread.lasting = None


def _unique_scope(name):
    if has_own_collections():
        return _thread.holders[-1]._shared.unique_name(name)
    place = current_place()
    return name if place is None else place.graph._shared.unique_name(name)


def _seed_of_draw(seed):
    """What decides about the numbers of the operation that draws next, where sessions will run it:
    the seeds of the graph and of the operation, or its place in the graph. None: nothing."""
    stack = _stack()
    if not stack or not _tidemark.is_tracing():
        return seed
    graph = stack[-1].graph
    if graph.seed is None and seed is None:
        return None
    with graph._lock:
        graph._num_draws += 1
        number = graph._num_draws
    first = random_state.DEFAULT_SEED if graph.seed is None else random_state.as_int64(graph.seed)
    both = random_state.mixed(first, number if seed is None else seed)
    return _tidemark.seed_of_operation(both & 0xFFFFFFFF, number)


random_state.seed_of_draw = _seed_of_draw
scopes.unique_scope = _unique_scope
symbolic.session_graph = graph_with_id


def name_result(result, name):
    """Gives what a call made the name that the user asked for, where sessions will run it."""
    place = current_place()
    if place is None or not name:
        return
    first = result[0] if isinstance(result, (list, tuple)) and result else result
    if isinstance(first, Operation):
        place.graph.label(first, name)
    elif isinstance(first, Tensor) and _tidemark.is_symbolic(first):
        place.graph.label(operation_of(first), name)


def keep_named(tensor):
    """The graph keeps the operation that makes the tensor, which has a name of the user's."""
    place = current_place()
    if place is not None:
        operation = operation_of(tensor)
        with place.graph._lock:
            place.graph._named[operation._node.label] = operation


def is_element(item):
    """Whether something is an operation or a tensor of a graph."""
    if isinstance(item, (Operation, _tidemark.NodeHandle)) or hasattr(item, "_as_graph_element"):
        return True
    return isinstance(item, Tensor) and _tidemark.is_symbolic(item)


def node_behind(item):
    """The node that a tensor, an operation or a variable of a graph stands for."""
    item = item._as_graph_element() if hasattr(item, "_as_graph_element") else item
    if isinstance(item, _tidemark.NodeHandle):
        return item
    if isinstance(item, Operation):
        return item._node
    if isinstance(item, IndexedSlices):
        item = item.values
    if not isinstance(item, Tensor):
        raise TypeError(f"Can not convert a {type(item).__name__} into a Tensor or Operation.")
    if not _tidemark.is_symbolic(item):
        raise AttributeError(
            "Tensor.graph is undefined when eager execution is enabled: control dependencies of a "
            f"graph are its own tensors and operations, and {item!r} has its value already."
        )
    return _tidemark.node_of(item)


@contextlib.contextmanager
def dependencies(control_inputs):
    """Nodes made inside run after the given tensors and operations."""
    place = current_place()
    outer = place.before
    items = list(control_inputs or ())
    nodes = [node_behind(item) for item in items]
    for item, node in zip(items, nodes, strict=True):
        if node.graph_id != place.graph._shared.id:
            raise ValueError(f"{item!r} is not an element of this graph.")
    place.before = [] if control_inputs is None else [*outer, *nodes]
    place.scope.set_before(place.before)
    try:
        yield
    finally:
        place.before = outer
        place.scope.set_before(outer)


from tidemark._v1 import naming  # noqa: E402  (it names what is made here)
