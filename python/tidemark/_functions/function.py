"""``tf.function`` itself."""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
import threading
import weakref

from tidemark import _tidemark, nest
from tidemark._explain import listener
from tidemark._export import export
from tidemark._functions.arguments import Call, token_of
from tidemark._functions.binding import Binding
from tidemark._functions.budgets import budget_of
from tidemark._functions.concrete import ConcreteFunction, Trace
from tidemark._functions.donation import Donated
from tidemark._functions.numbers import TracedNumber
from tidemark._functions.plan import Plan, PlannedPythonStep
from tidemark._functions.signature import DeclaredInputs, Signature
from tidemark._functions.state import Captured
from tidemark._graph.scopes import get_logger
from tidemark._graph.tracing import (
    Structure,
    building,
    call_functions_in_python,
    is_symbolic,
)
from tidemark._tensor.specs import TensorSpec
from tidemark._tensor.variable import variable_with_id
from tidemark._tidemark import Tensor
from tidemark.errors import InvalidArgumentError
from tidemark.memory import parse_bytes

_eagerly = False
_thread = threading.local()


def run_functions_eagerly(run_eagerly):
    """Whether tf.functions run as the Python functions they are made of."""
    global _eagerly
    before, _eagerly = _eagerly, bool(run_eagerly)
    if _eagerly is not before:
        call_functions_in_python(_eagerly)


def _caller():
    """file:line of the first frame outside of the package."""
    frame = sys._getframe(1)
    while frame is not None and _tidemark.is_internal_code(frame.f_code):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "?"


class Function(_tidemark.FunctionBase):
    """A Python function that is traced when it is called with arguments of a new kind."""

    _makes_variables_once = False  # whether its code runs once only, whatever variables it makes

    def __init__(
        self,
        python_function,
        name=None,
        input_signature=None,
        autograph=True,
        jit_compile=None,
        reduce_retracing=False,
        experimental_attributes=None,
        experimental_autograph_options=None,
        memory_budget=None,
        donate=None,
        _instance=None,
    ):
        self._memory_budget = 0 if memory_budget is None else parse_bytes(memory_budget)
        self._python_function = python_function
        self._instance = _instance  # weak; of a method
        self._name = name or getattr(python_function, "__name__", "function")
        self._autograph = autograph
        self._attributes = dict(experimental_attributes or {})  # for those who read the graph
        self._experimental_autograph_options = experimental_autograph_options
        self._jit_compile = jit_compile
        self._reduce_retracing = reduce_retracing
        self._signature = Signature(python_function, _instance is not None)
        self._declared = None
        if input_signature is not None:
            self._declared = DeclaredInputs(input_signature, self._name, self._signature)
            self._declare(self._declared.arguments)
        self._donate = None if donate is None else Donated(donate, self._name, self._signature)
        self._told = set()  # changes of Python state: (name, file, line)
        self._bound = weakref.WeakKeyDictionary()
        self._bound_by_id = {}
        self._first_variables = None
        functools.update_wrapper(self, python_function, updated=())
        for key, value in getattr(python_function, "__dict__", {}).items():
            self.__dict__.setdefault(key, value)  # what the user hung on it
        self.__signature__ = self._signature._signature  # without `self` where it is bound

    # --- calling -----------------------------------------------------------------------------

    def _call_slowly(self, args, kwargs):
        if _eagerly:
            return self._python()(*args, **kwargs)
        call = Call(self._bind(args, kwargs))
        trace = self._get_trace(call)
        if trace.count_call():
            self._look_for_changes(trace)
        if _tidemark.builds_for_sessions():
            return trace.run_in_session_graph(call.leaves)
        return trace.run(call.leaves)

    def _bind(self, args, kwargs):
        try:
            bound = self._signature.bind(*args, **kwargs)
            return bound if self._declared is None else self._declared.fit(self._signature, *bound)
        except TypeError as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and "
                f"kwargs: {kwargs} for signature: {self._declared or self._signature}."
            ) from None

    @property
    def input_signature(self):
        """What was declared, a tuple of specs; None."""
        return None if self._declared is None else self._declared.specs

    def _python(self):
        """The Python function, bound where it is a method."""
        if self._instance is None:
            return self._python_function
        instance = self._instance()
        if instance is None:
            raise ReferenceError(f"the object whose method {self._name} is has gone")
        return self._python_function.__get__(instance, type(instance))

    # --- tracing -----------------------------------------------------------------------------

    def _trace(self, call, args, code_runs=1):
        """A trace for a call, or for more than that: ``args`` say what to trace for."""
        outer = getattr(_thread, "creating", None)
        is_first = not self._made and code_runs == 1
        creating = _thread.creating = Creating(self._name, is_first, outer)
        try:
            with building(self._name) as builder:
                leaves = list(call.leaves)
                creating.builder = builder
                for at, arg in enumerate(args):
                    if arg.is_tensor:
                        leaves[at] = builder.add_input(arg.dtype, arg.shape)
                        creating.inputs.append((leaves[at], call.leaves[at]))
                    elif arg.is_number:
                        leaves[at] = TracedNumber(arg.type, builder.add_input(arg.dtype, ()))
                packed_args, packed_kwargs = call.packed(leaves)
                before = nest.map_structure(lambda leaf: leaf, (packed_args, packed_kwargs))
                result = self._traceable()(*packed_args, **packed_kwargs)
                self._check_arguments(before, (packed_args, packed_kwargs))
                structure, outputs = Structure.of(result, self._to_output)
                donated = [] if self._donate is None else self._donate.inputs(call, args)
                graph = builder.finish(outputs, True, budget_of(self._memory_budget), donated)
        finally:
            _thread.creating = outer
        if creating.count and not self._makes_variables_once:
            # Again, with the variables there: code that makes new ones each time shows itself.
            return self._trace(call, args, code_runs + 1)
        trace = Trace(
            self._name, graph, call, args, structure, builder.captures, builder.awaited,
            line=_caller(), code_runs=code_runs,
        )  # fmt: skip
        trace.state = Captured(self._python_function, self._objects(trace))
        return trace

    def _check_arguments(self, before, after):
        """Raises where the Python function changed lists or dicts that it was given."""
        before, after = (
            self._signature._signature.bind(*args, **kwargs).arguments
            for args, kwargs in (before, after)
        )
        changed = [name for name in before if not _same(before[name], after[name])]
        if changed:
            name = getattr(self._python_function, "__qualname__", self._name)
            raise ValueError(
                f"{name}{self._signature} should not modify its Python input arguments. "
                "Modifying a copy is allowed. The following parameter(s) were modified: "
                f"{', '.join(changed)}"
            )

    def _traceable(self):
        function = self._python()
        if not self._autograph:
            return function
        from tidemark.autograph import _impl  # only tracing needs it

        return _impl.converted(function, features=self._experimental_autograph_options)

    def _to_output(self, leaf):
        if leaf is None:
            return None
        if isinstance(leaf, Tensor):
            return leaf
        try:
            return _tidemark.traced_constant(_tidemark.convert(leaf))
        except (TypeError, ValueError) as error:
            raise TypeError(
                "To be compatible with tf.function, Python functions must return zero or more "
                f"Tensors or ExtensionTypes or None values; in compilation of {self._name}, found "
                f"return value of type {type(leaf).__name__}, which is not a Tensor."
            ) from error

    # --- telling why -------------------------------------------------------------------------

    def _tell_of_trace(self, trace, too_many):
        """A call made this trace. ``too_many``: so many of its line, where that is worth a word."""
        _tidemark.recording_mark("trace", f"{trace.name}: {trace.reason}", trace.nbytes)
        if listener.active is not None:
            listener.active.add_trace(self, trace)
        if too_many:
            get_logger().warning(
                "%d traces of %s were made from %s, the last because of %s. A trace costs time and "
                "is kept (tf.memory.report() shows it). Pass numbers as tensors, keep the "
                "arguments' structure, and make the tf.function once, outside of the loop.",
                too_many, self._name, trace.line, trace.reason,
            )  # fmt: skip

    def _leaf_names(self, call):
        """What the user calls each leaf of the arguments."""
        args, kwargs = call._structure
        try:
            names = list(self._signature._signature.parameters)
        except AttributeError:
            names = []
        out = []
        for at, value in enumerate(args):
            name = names[at] if at < len(names) else f"argument {at}"
            parts = len(nest.flatten(value))
            out += [name] if parts == 1 else [f"{name}[{i}]" for i in range(parts)]
        for name, value in sorted(kwargs.items()):
            out += [name] * len(nest.flatten(value))
        return out + ["part"] * sum(count - 1 for _, _, count in call._specs)

    def _look_for_changes(self, trace):
        state = trace.state
        found = state.changed(self._python_function, self._objects(trace)) if state else None
        if found is None or found[:3] in self._told:
            return
        name, file, line, was, now = found
        self._told.add(found[:3])
        if listener.active is not None:
            listener.active.add_changed_state(self, found)
        text = f" ({was!r} then, {now!r} now)" if was is not None else ""
        get_logger().warning(
            "%s uses the Python value '%s' (%s:%d), which has changed since it was traced%s: the "
            "graph keeps the value of that time. Pass it as an argument, or make it a tf.Variable.",
            self._name, name, file, line, text,
        )  # fmt: skip

    def _objects(self, trace):
        """The objects that the first arguments are: of a method its own."""
        objects = [] if self._instance is None else [self._instance()]
        if isinstance(trace.token, int):  # the leaves are the arguments
            objects += [arg.object for arg in trace.args]
        return objects

    # --- looking at it -----------------------------------------------------------------------

    def traces(self):
        """A description of each trace kept: signature, reason, line, bytes, calls, Python steps."""
        return [
            TraceInfo(
                f"{self._name}({', '.join(map(repr, trace.args))})",
                trace.reason,
                trace.line,
                trace.nbytes,
                trace.calls,
                trace.graph.python_steps,
            )  # fmt: skip
            for trace in self._traces
        ]

    def experimental_get_tracing_count(self):
        """How many times the function was traced."""
        return self._made

    def get_concrete_function(self, *args, **kwargs):
        """The function traced for these arguments or specs."""
        if self.input_signature is not None and not args and not kwargs:
            args = self.input_signature
        if any(isinstance(leaf, TensorSpec) for leaf in nest.flatten((args, kwargs))):
            bound = self._signature.bind(*args, **kwargs)
        else:
            bound = self._bind(args, kwargs)
        return self._concrete(self._get_exact_trace(Call(bound), "get_concrete_function"))

    def _concrete(self, trace):
        variables = _alive_variables(trace.graph.variable_ids)
        return ConcreteFunction(self, trace, self._signature, variables)

    def _list_all_concrete_functions(self):
        """One each trace; the declared one is made where there is none yet."""
        if self.input_signature is not None and not self._traces:
            self.get_concrete_function()
        return [self._concrete(trace) for trace in self._traces]

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        if save_type == "checkpoint":
            return {}
        concrete = self._list_all_concrete_functions()
        return {f"trace_{at}": one for at, one in enumerate(concrete)}

    def plan(self, *args, memory_budget=None, workers=None, shard="as made", **kwargs):
        """What a call with these arguments, or arguments of these specs, will need: a
        ``tf.memory.Plan``. Nothing runs, and the memory need not be there. ``memory_budget`` asks
        what the plan would be under that budget instead of the function's own. ``workers``: what
        each of so many workers would need under ``MultiWorkerMirroredStrategy``, a
        ``tf.memory.WorkersPlan``; ``shard`` as if the strategy had been made with that."""
        if workers is not None:
            from tidemark.distribute import _planning  # loaded on first use

            return _planning.plan(self, args, kwargs, workers, shard, memory_budget)
        own = self._memory_budget if memory_budget is None else parse_bytes(memory_budget)
        budget = budget_of(own)
        trace, specs = self._trace_and_specs(args, kwargs)
        said = trace.graph.plan(self._name, specs, budget)
        names = self._leaf_names(trace.call) if said["donations"] else ()
        said["donations"] = [
            (names[trace.inputs[index][0]], *rest) for index, *rest in said["donations"]
        ]
        return Plan(self._name, said)

    def graph(self, *args, compiled=True, **kwargs):
        """The graph of a call with these arguments, or arguments of these specs, to look at: with
        ``to_dot()`` and ``to_svg()``; notebooks draw it. It shows what runs, fused groups with
        the ops inside of them; with ``compiled=False`` what was traced. Nothing runs."""
        from tidemark._functions.graph_view import GraphView  # loaded on first use

        trace, specs = self._trace_and_specs(args, kwargs)
        return GraphView(self._name, trace.graph.outline(self._name, specs if compiled else None))

    def _trace_and_specs(self, args, kwargs):
        """The trace for arguments or specs, made where there is none, and its inputs as specs."""
        if self.input_signature is not None and not args and not kwargs:
            args = self.input_signature
        if any(isinstance(leaf, TensorSpec) for leaf in nest.flatten((args, kwargs))):
            call = Call(self._signature.bind(*args, **kwargs))
        else:
            call = Call(self._bind(args, kwargs))
        trace = self._get_trace(call)
        return trace, _specs(trace, call)

    python_function = property(lambda self: self._python())
    function_spec = property(lambda self: self._signature)

    def pretty_printed_concrete_signatures(self, verbose=True):
        """The signatures of all traces."""
        return ("\n\n" if verbose else "\n").join(
            Binding(trace, self._signature).text(
                verbose, _alive_variables(trace.graph.variable_ids)
            )
            for trace in self._traces
        )

    def experimental_get_compiler_ir(self, *args, **kwargs):
        """Refused: XLA, whose language this would be in, is not a part of Tidemark."""
        if not self._jit_compile:
            raise ValueError(
                "Compiler IR can only be returned for functions marked with 'jit_compile=True'"
            )
        raise NotImplementedError(
            "functions are not compiled by XLA; "
            "f.get_concrete_function(...).graph.as_graph_def() shows the graph"
        )

    def _clone(self, python_function, _instance=None):
        """A function with the same options and no traces; of another Python function if given."""
        return type(self)(*self._options(python_function), _instance)

    def _options(self, python_function=None):
        """What it is made with."""
        return (
            python_function or self._python_function,
            self._name,
            self.input_signature,
            self._autograph,
            self._jit_compile,
            self._reduce_retracing,
            self._attributes,
            self._experimental_autograph_options,
            self._memory_budget or None,
            None if self._donate is None else tuple(self._donate.names),
        )

    def _decorate(self, decorator):
        """Puts a decorator around the Python function; before the first call alone."""
        if self._made:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        self._python_function = decorator(self._python_function)
        self._signature = Signature(self._python_function, self._instance is not None)

    def __copy__(self):
        return self._clone(None, self._instance)

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        """Its Python function and its options: graphs belong to their process."""
        if self._instance is not None:
            raise TypeError(
                f"the tf.function {self._name} of an object cannot be pickled; pickle the object "
                "and ask it for its method again."
            )
        return type(self), self._options()

    # --- ownership ---------------------------------------------------------------------------

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        try:
            known = self._bound.get(instance)
        except TypeError:  # not hashable
            known = self._bound_by_id.get(id(instance))
        if known is not None and known._instance() is instance:
            return known
        bound = self._clone(None, weakref.ref(instance))
        try:
            self._bound[instance] = bound
        except TypeError:
            key, mine = id(instance), self._bound_by_id
            weakref.finalize(instance, mine.pop, key, None)
            mine[key] = bound
        return bound

    def __repr__(self):
        return f"<tf.function {self._name}{self._signature}>"


def _same(one, other):
    """Whether two nested structures are of the same shape and hold the same objects."""
    if not nest.is_nested(one):
        return one is other
    parts, others = nest.flatten(one), nest.flatten(other)
    return (
        token_of(one) == token_of(other)
        and len(parts) == len(others)
        and all(map(operator.is_, parts, others))
    )


def _specs(trace, call):
    """(dtype, shape, device) of what a run of the trace for this call is given: numbers lie on the
    host, and a spec stands for a tensor made where ops run now."""
    here = _tidemark.placement()
    given = [
        (wanted.dtype, (), "cpu:0")
        if wanted.is_number
        else (given.dtype, given.shape, getattr(leaf, "device", here))
        for wanted, given, leaf in zip(trace.args, call.args, call.leaves, strict=True)
        if wanted.is_input
    ]
    return given + [(t.dtype, tuple(t.shape), t.device) for t in trace.captures]


class Creating:
    """A function being traced, and the variables made meanwhile.

    ``inputs``: those of the graph, with what the call gives for them; ``outer``: the function that
    calls it, if that is being traced, too.
    """

    __slots__ = ("name", "is_first", "count", "builder", "inputs", "outer")

    def __init__(self, name, is_first, outer):
        self.name, self.is_first, self.count = name, is_first, 0
        self.builder, self.inputs, self.outer = None, [], outer

    def value(self, tensor):
        """What a tensor of the graph is in this call."""
        with contextlib.suppress(InvalidArgumentError):  # where it depends on what is given
            return _tidemark.evaluate(tensor)
        around = [(self.builder.own(outer), outer) for outer in self.builder.captures]
        inputs, values = [], []
        for symbolic, given in (*self.inputs, *around):
            if isinstance(given, Tensor) and is_symbolic(given):
                given = self._value_outside(given)
            if isinstance(given, Tensor):
                inputs.append(symbolic)
                values.append(given)
        return _tidemark.evaluate(tensor, inputs, values)

    def _value_outside(self, tensor):
        """What a tensor of the graph around this one is; None where nobody can tell now."""
        if self.outer is None:
            return None
        try:
            return self.outer.value(tensor)
        except InvalidArgumentError:  # a loop's, or of a branch
            return None


class TraceInfo:
    """What ``traces()`` tells of a trace."""

    __slots__ = ("signature", "reason", "line", "nbytes", "calls", "python_steps")

    def __init__(self, signature, reason, line, nbytes, calls, python_steps):
        self.signature, self.reason, self.line = signature, reason, line
        self.nbytes, self.calls = nbytes, calls
        self.python_steps = [PlannedPythonStep(*step) for step in python_steps]

    def __repr__(self):
        steps = ", ".join(f"{step.function} at {step.line}" for step in self.python_steps)
        return (
            f"{self.signature}: {self.reason}, at {self.line}; {self.nbytes:,} bytes, "
            f"{self.calls} calls" + (f"; in Python: {steps}" if steps else "")
        )


def _alive_variables(ids):
    return [v for v in map(variable_with_id, ids) if v is not None]


def check_may_create_variable():
    """Raises where a function that was traced before makes a variable."""
    creating = getattr(_thread, "creating", None)
    if creating is None:
        return
    creating.count += 1
    if not creating.is_first:
        raise ValueError(
            f"tf.function {creating.name} only supports singleton tf.Variables created on the "
            "first call. Make sure the tf.Variable is only created once or created outside "
            "tf.function."
        )


def value_in_call(tensor):
    """The value, in the call that a function is being traced for, of a tensor of its graph."""
    creating = getattr(_thread, "creating", None)
    return _tidemark.evaluate(tensor) if creating is None else creating.value(tensor)


@export("tf.function")
def function(
    func=None,
    input_signature=None,
    autograph=True,
    jit_compile=None,
    reduce_retracing=False,
    experimental_implements=None,
    experimental_autograph_options=None,
    experimental_attributes=None,
    experimental_relax_shapes=None,
    experimental_compile=None,
    experimental_follow_type_hints=None,
    memory_budget=None,
    donate=None,
):
    """Makes a Python function run as a graph: ``@tf.function``, with or without arguments.

    ``memory_budget`` (bytes, or text like "500MB") bounds what a call takes beside its arguments
    and variables: steps are done twice rather than kept, and chains that work row by row are run in
    pieces, whatever adds the least time.
    ``tf.memory.budget`` gives one to all functions that are traced inside it.

    ``donate`` names parameters, or gives their positions: ``donate=("state",)``. A call gives up
    the tensors in those arguments, nested ones too, and results are written into their memory
    where nobody else has it: ``state = f(state)`` needs no second state. The tensors given have no
    value afterwards; using one raises ``FailedPreconditionError`` with the line of the call. Under
    a tape, inside another function and with ``run_functions_eagerly`` nothing is given up.
    """

    relaxed = experimental_relax_shapes  # what `reduce_retracing` was called
    retracing = reduce_retracing if relaxed is None else relaxed
    attributes = dict(experimental_attributes or {})
    if experimental_implements is not None:
        attributes["_implements"] = experimental_implements

    def decorate(inner):
        if isinstance(inner, (staticmethod, classmethod)):
            return type(inner)(decorate(inner.__func__))
        return Function(
            inner, getattr(inner, "__name__", None), input_signature, autograph, jit_compile,
            retracing, attributes, experimental_autograph_options, memory_budget, donate,
        )  # fmt: skip

    return decorate if func is None else decorate(func)


__all__ = ["Function", "function", "is_symbolic"]
