"""``tf.function`` itself."""

from __future__ import annotations

import functools
import sys
import threading
import weakref

from tidemark import _tidemark, nest
from tidemark._explain import notes
from tidemark._export import export
from tidemark._functions.arguments import ById, Call, NumberArg, TensorArg, ValueArg
from tidemark._functions.budgets import budget_of
from tidemark._functions.concrete import ConcreteFunction, Trace, signature_text
from tidemark._functions.donation import Donated
from tidemark._functions.numbers import TracedNumber, wide_dtype
from tidemark._functions.plan import Plan, PlannedPythonStep
from tidemark._functions.signature import DeclaredInputs, Signature
from tidemark._functions.state import Captured
from tidemark._functions.traces import CACHE
from tidemark._graph.scopes import get_logger
from tidemark._graph.tracing import Structure, building, is_symbolic
from tidemark._tensor.specs import TensorSpec
from tidemark._tensor.variable import variable_with_id
from tidemark._tidemark import Tensor
from tidemark.memory import parse_bytes

_eagerly = False
_TRACES_BEFORE_WARNING = 5
_CALLS_LOOKED_AT = 16  # each of them; then every call whose number is a power of two
_thread = threading.local()


def run_functions_eagerly(run_eagerly):
    """Whether tf.functions run as the Python functions they are made of."""
    global _eagerly
    _eagerly = bool(run_eagerly)
    _tidemark.set_functions_run_eagerly(_eagerly)


def _caller():
    """file:line of the first frame outside of the package."""
    frame = sys._getframe(1)
    while frame is not None and _tidemark.is_internal_code(frame.f_code):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "?"


def _kind_of_change(arg):
    if isinstance(arg, (TensorArg, NumberArg)):
        return "shape" if isinstance(arg, TensorArg) else "value"
    return "identity" if isinstance(getattr(arg, "value", None), ById) else "value"


class Function(_tidemark.FunctionBase):
    """A Python function that is traced when it is called with arguments of a new kind."""

    def __init__(
        self,
        python_function,
        name=None,
        input_signature=None,
        autograph=True,
        jit_compile=None,
        reduce_retracing=False,
        experimental_options=None,
        _instance=None,
        memory_budget=None,
        donate=None,
    ):
        self._memory_budget = 0 if memory_budget is None else parse_bytes(memory_budget)
        self._python_function = python_function
        self._instance = _instance  # weak; of a method
        self._name = name or getattr(python_function, "__name__", "function")
        self._autograph = autograph
        self._autograph_options = experimental_options
        self._jit_compile = jit_compile
        self._reduce_retracing = reduce_retracing
        self._signature = Signature(python_function, _instance is not None)
        self._declared = None
        if input_signature is not None:
            self._declared = DeclaredInputs(input_signature, self._name, self._signature)
        self._donate = None if donate is None else Donated(donate, self._name, self._signature)
        self._lock = threading.RLock()
        self._traces: list[Trace] = []
        self._needs = set()  # positions of leaves whose exact value or shape traces need
        self._lines = {}  # line → how many traces it caused
        self._made = 0
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
        trace = self._find(call)
        if trace is None:
            trace, result = self._trace_and_run(call)
            return result
        CACHE.touch(trace)
        if trace.calls <= _CALLS_LOOKED_AT or trace.calls & (trace.calls - 1) == 0:
            self._look_for_changes(trace)
        return trace.run(call.leaves)

    def _bind(self, args, kwargs):
        args, kwargs = self._signature.bind(*args, **kwargs)
        if self._declared is None:
            return args, kwargs
        return self._declared.fit(self._signature, args, kwargs)

    @property
    def input_signature(self):
        """What was declared, a tuple of specs; None."""
        return None if self._declared is None else self._declared.specs

    def _find(self, call):
        for trace in reversed(self._traces):
            if trace.accepts(call):
                return trace
        return None

    def _python(self):
        """The Python function, bound where it is a method."""
        if self._instance is None:
            return self._python_function
        instance = self._instance()
        if instance is None:
            raise ReferenceError(f"the object whose method {self._name} is has gone")
        return self._python_function.__get__(instance, type(instance))

    # --- tracing -----------------------------------------------------------------------------

    def _trace_and_run(self, call):
        with self._lock:
            trace = self._find(call)  # another thread may have been faster
            if trace is None:
                trace = self._new_trace(call)
        return trace, trace.run(call.leaves)

    def _new_trace(self, call):
        reason = self._reason(call)
        kinds = self._kinds_of_change(call) if notes.active is not None else ()
        args = self._general_args(call)
        trace = None
        if args != call.args and self._declared is None:
            try:
                trace = self._trace(call, args)
            except Exception:
                # Code that looks at values or sizes is traced for each of them.
                self._needs.update(
                    at
                    for at, pair in enumerate(zip(args, call.args, strict=True))
                    if pair[0] != pair[1]
                )
                args = call.args
        if trace is None:
            trace = self._trace(call, args)
        trace.reason, trace.line = reason, _caller()
        trace.state = Captured(self._python_function, self._objects(trace))
        self._made += 1
        _tidemark.recording_mark("trace", f"{trace.name}: {reason}", trace.nbytes)
        if notes.active is not None:
            notes.active.add_trace(self, trace, kinds)
        if trace.captures:
            return trace
        # What the new one covers is not needed any more.
        self._traces = [
            old
            for old in self._traces
            if old.token != trace.token
            or not all(a.accepts(b) for a, b in zip(trace.args, old.args, strict=True))
        ]
        self._traces.append(trace)
        self._add_quick(trace)
        CACHE.add(self, trace)
        self._warn_about_retracing(trace)
        return trace

    def _general_args(self, call):
        """What to trace for: where an earlier trace differs in a size or a number, any size or
        number."""
        if self.input_signature is not None:
            specs = nest.flatten(list(self.input_signature))
            given = list(call.args)
            for at, spec in enumerate(specs):
                if isinstance(spec, TensorSpec):
                    shape = None if spec.shape.rank is None else tuple(spec.shape.as_list())
                    given[at] = TensorArg(spec.dtype, shape, spec.name)
            return tuple(given)
        best = None
        for trace in self._traces:
            if trace.token != call.token:
                continue
            joined = []
            for at, (old, new) in enumerate(zip(trace.args, call.args, strict=True)):
                if old.accepts(new):
                    joined.append(old)
                    continue
                both = None if at in self._needs else old.joined(new)
                if both is None:
                    break
                joined.append(both)
            else:
                best = tuple(joined)
        return best or call.args

    def _trace(self, call, args):
        first = not self._made
        outer = getattr(_thread, "creating", None)
        creating = _thread.creating = Creating(self._name, first, outer)
        try:
            with building(self._name) as builder:
                leaves = list(call.leaves)
                creating.builder = builder
                for at, arg in enumerate(args):
                    if isinstance(arg, TensorArg):
                        leaves[at] = builder.add_input(arg.dtype, arg.shape)
                        creating.inputs.append((leaves[at], call.leaves[at]))
                    elif isinstance(arg, NumberArg):
                        wide = builder.add_input(wide_dtype(arg.type), ())
                        leaves[at] = TracedNumber(arg.type, wide)
                packed_args, packed_kwargs = call.packed(leaves)
                result = self._traceable()(*packed_args, **packed_kwargs)
                structure, outputs = Structure.of(result, self._to_output)
                donated = [] if self._donate is None else self._donate.inputs(call, args)
                graph = builder.finish(outputs, True, budget_of(self._memory_budget), donated)
        finally:
            _thread.creating = outer
        if creating.count:
            # Again, with the variables there: code that makes new ones each time shows itself.
            self._made += 1
            return self._trace(call, args)
        for other in self._traces:  # arguments that make no difference share a graph
            if other.graph.is_same(graph):
                graph = other.graph
                break
        return Trace(self._name, graph, call, args, builder.captures, structure)

    def _traceable(self):
        function = self._python()
        if not self._autograph:
            return function
        from tidemark.autograph import _impl  # only tracing needs it

        return _impl.converted(function, features=self._autograph_options)

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

    def _reason(self, call):
        """Why no trace fits, in words."""
        if not self._traces:
            return "first call" if not self._made else "the earlier trace was dropped"
        last = self._traces[-1]
        if last.token != call.token:
            return "the structure of the arguments differs"
        names = self._leaf_names(call, len(call.args))
        found = [
            f"{name}: {old!r} -> {new!r}"
            for name, old, new in zip(names, last.args, call.args, strict=True)
            if not old.accepts(new)
        ]
        return "; ".join(found) or "an object that was an argument has gone"

    def _kinds_of_change(self, call):
        """What no trace fits by: "shape", "value", "identity", "structure"."""
        last = self._traces[-1] if self._traces else None
        if last is None or last.token != call.token:
            return ("structure",) if last else ()
        pairs = zip(last.args, call.args, strict=True)
        return tuple(sorted({_kind_of_change(new) for old, new in pairs if not old.accepts(new)}))

    def _leaf_names(self, call, count):
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
        return out + ["part"] * (count - len(out))

    def _warn_about_retracing(self, trace):
        count = self._lines[trace.line] = self._lines.get(trace.line, 0) + 1
        if len(self._lines) > 256:
            self._lines.clear()
        if count != _TRACES_BEFORE_WARNING:
            return
        get_logger().warning(
            "%d traces of %s were made from %s, the last because of %s. A trace costs time and is "
            "kept (tf.memory.report() shows it). Pass numbers as tensors, keep the arguments' "
            "structure, and make the tf.function once, outside of the loop.",
            count, self._name, trace.line, trace.reason,
        )  # fmt: skip

    def _note_calls(self, trace, calls):
        """Called by the extension in the first plain calls, then after 32, 64, 128, …"""
        trace.calls = calls
        CACHE.touch(trace)
        self._look_for_changes(trace)

    def _look_for_changes(self, trace):
        state = trace.state
        found = state.changed(self._python_function, self._objects(trace)) if state else None
        if found is None or found[:3] in self._told:
            return
        name, file, line, was, now = found
        self._told.add(found[:3])
        if notes.active is not None:
            notes.active.add_changed_state(self, found)
        text = f" ({was!r} then, {now!r} now)" if was is not None else ""
        get_logger().warning(
            "%s uses the Python value '%s' (%s:%d), which has changed since it was traced%s: the "
            "graph keeps the value of that time. Pass it as an argument, or make it a tf.Variable.",
            self._name, name, file, line, text,
        )  # fmt: skip

    def _objects(self, trace):
        """The objects that the first arguments are: of a method its own."""
        objects = [] if self._instance is None else [self._instance()]
        for arg in trace.args if _is_flat(trace) else ():
            value = getattr(arg, "value", None)
            is_object = isinstance(value, ById) and value.parts[1] is None
            objects.append(value.parts[0]() if is_object else None)
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
                max(trace.calls, self._entry_calls(trace)),
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
        call = Call(bound)
        with self._lock:
            trace = next(
                (t for t in self._traces if t.token == call.token and t.args == call.args), None
            )
            if trace is None:
                reason = "get_concrete_function"
                trace = self._trace(call, call.args)
                trace.reason, trace.line = reason, _caller()
                trace.state = Captured(self._python_function, self._objects(trace))
                self._made += 1
                if not trace.captures:
                    self._traces.append(trace)
                    self._add_quick(trace)
                    CACHE.add(self, trace)
        return self._concrete(trace)

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

    def plan(self, *args, memory_budget=None, **kwargs):
        """What a call with these arguments, or arguments of these specs, will need: a
        ``tf.memory.Plan``. Nothing runs, and the memory need not be there. ``memory_budget`` asks
        what the plan would be under that budget instead of the function's own."""
        own = self._memory_budget if memory_budget is None else parse_bytes(memory_budget)
        budget = budget_of(own)
        trace, specs = self._trace_and_specs(args, kwargs)
        said = trace.graph.plan(self._name, specs, budget)
        names = self._leaf_names(trace.call, len(trace.args)) if said["donations"] else ()
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
        with self._lock:
            trace = self._find(call) or self._new_trace(call)
        return trace, _specs(trace, call)

    python_function = property(lambda self: self._python())
    function_spec = property(lambda self: self._signature)

    def pretty_printed_concrete_signatures(self, verbose=True):
        """The signatures of all traces."""
        return "\n\n".join(
            signature_text(trace, self._signature, _alive_variables(trace.graph.variable_ids))
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

    def _memory_options(self):
        donate = None if self._donate is None else tuple(self._donate.names)
        return {"memory_budget": self._memory_budget or None, "donate": donate}

    def __copy__(self):
        return type(self)(
            self._python_function, self._name, self.input_signature, self._autograph,
            self._jit_compile, self._reduce_retracing, self._autograph_options,
            _instance=self._instance, **self._memory_options(),
        )  # fmt: skip

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce_ex__(self, protocol):
        raise TypeError(
            f"tf.function {self._name} cannot be pickled: its graphs belong to this process. "
            "Pickle the Python function and decorate it again, or save the function."
        )

    # --- ownership ---------------------------------------------------------------------------

    def _add_quick(self, trace):
        """Lets plain calls find the trace without Python."""
        simple = trace.structure.is_one_tensor
        self._add_entry(
            trace, trace.graph,
            tuple(_quick_arg(arg) for arg in trace.args),
            _is_flat(trace), None if simple else trace.structure.pack,
        )  # fmt: skip

    def _drop(self, trace):
        with self._lock:
            self._traces = [t for t in self._traces if t is not trace]
            self._remove_entry(trace)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        try:
            known = self._bound.get(instance)
        except TypeError:  # not hashable
            known = self._bound_by_id.get(id(instance))
        if known is not None and known._instance() is instance:
            return known
        bound = type(self)(
            self._python_function, self._name, self.input_signature, self._autograph,
            self._jit_compile, self._reduce_retracing, self._autograph_options,
            _instance=weakref.ref(instance), **self._memory_options(),
        )  # fmt: skip
        try:
            self._bound[instance] = bound
        except TypeError:
            key, mine = id(instance), self._bound_by_id
            weakref.finalize(instance, mine.pop, key, None)
            mine[key] = bound
        return bound

    def __repr__(self):
        return f"<tf.function {self._name}{self._signature}>"


def _quick_arg(arg):
    """The argument as the extension compares it: (kind, …)."""
    if isinstance(arg, TensorArg):
        return (0, arg.dtype._enum, arg.shape)
    if isinstance(arg, NumberArg):
        return (1, arg.type, wide_dtype(arg.type)._enum)
    if isinstance(arg.value, ById):
        return (3, *arg.value.parts)
    return (2, arg.value)


def _specs(trace, call):
    """(dtype, shape, device) of what a run of the trace for this call is given; a device of None
    leaves that open."""
    given = [
        (wide_dtype(trace.args[at].type), (), None)
        if isinstance(trace.args[at], NumberArg)
        else (call.args[at].dtype, call.args[at].shape, getattr(call.leaves[at], "device", None))
        for at, _ in trace.inputs
    ]
    return given + [(t.dtype, tuple(t.shape), t.device) for t in trace.captures]


def _is_flat(trace):
    """Whether the arguments are a plain list of tensors and values: leaf i is argument i."""
    args, kwargs = trace.call._structure
    return not kwargs and not trace.call._specs and all(value is None for value in args)


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
        around = [(self.builder.own(outer), outer) for outer in self.builder.captures]
        inputs, values = [], []
        for symbolic, given in (*self.inputs, *around):
            if self.outer is not None and isinstance(given, Tensor) and is_symbolic(given):
                given = self.outer.value(given)
            if isinstance(given, Tensor) and not is_symbolic(given):
                inputs.append(symbolic)
                values.append(given)
        return _tidemark.evaluate(tensor, inputs, values)


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

    def decorate(inner):
        if isinstance(inner, (staticmethod, classmethod)):
            return type(inner)(decorate(inner.__func__))
        return Function(
            inner, getattr(inner, "__name__", None), input_signature, autograph, jit_compile,
            bool(reduce_retracing or experimental_relax_shapes), experimental_autograph_options,
            memory_budget=memory_budget, donate=donate,
        )  # fmt: skip

    return decorate if func is None else decorate(func)


__all__ = ["Function", "ValueArg", "function", "is_symbolic"]
