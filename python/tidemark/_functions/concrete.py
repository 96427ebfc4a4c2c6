"""One traced function: its graph, what it takes and returns."""

from __future__ import annotations

from tidemark import _tidemark, nest
from tidemark._export import export
from tidemark._functions import arguments
from tidemark._functions.arguments import Call, NumberArg, TensorArg, ValueArg
from tidemark._functions.numbers import wide_dtype
from tidemark._graph.func_graph import FuncGraph
from tidemark._graph.scopes import control_dependencies
from tidemark._tidemark import Tensor
from tidemark.errors import InvalidArgumentError


class Trace:
    """The result of tracing: runs without Python."""

    __slots__ = (
        "graph", "token", "args", "call", "inputs", "captures", "awaited", "structure", "reason",
        "line", "calls", "nbytes", "state", "name", "key", "__weakref__",
    )  # fmt: skip

    def __init__(self, name, graph, call, args, captures, structure, awaited=()):
        self.name, self.graph, self.structure = name, graph, structure
        graph.set_name(name)
        self.token, self.args = call.token, args
        self.call = Call.__new__(Call)
        self.call._structure = nest.map_structure(lambda _: None, call._structure)
        self.call._specs = call._specs
        self.captures, self.awaited = captures, awaited
        self.inputs = [
            (at, wide_dtype(arg.type)._enum if isinstance(arg, NumberArg) else None)
            for at, arg in enumerate(args)
            if isinstance(arg, (TensorArg, NumberArg))
        ]
        self.calls = 0
        self.nbytes = graph.nbytes + 512 + 128 * len(args)
        self.reason = self.line = self.state = None
        self.key = 0

    def accepts(self, call):
        """Whether the call's arguments fit."""
        return self.token == call.token and all(
            mine.accepts(theirs) for mine, theirs in zip(self.args, call.args, strict=True)
        )

    def run(self, leaves):
        """Computes, given all leaves of the arguments."""
        self.calls += 1
        values = [
            leaves[at] if number is None else _tidemark.convert(leaves[at], number)
            for at, number in self.inputs
        ]
        return self.compute(values)

    def compute(self, values):
        """The result for these inputs. In a graph of a session a function with effects becomes one
        operation, which has them whenever one of its results is asked for."""
        values = [*values, *self.captures]
        if not _tidemark.builds_for_sessions():
            return self.structure.pack(self.graph.run(values))
        with control_dependencies(self.awaited):
            run = self.graph.add_as_one_step if self.graph.num_effects else self.graph.run
            return self.structure.pack(run(values))

    @property
    def is_for_one_call(self):
        """Whether it refers to tensors or operations of the graph that the call is made in."""
        return bool(self.captures or self.awaited)

    @property
    def is_general(self):
        return any(arg.is_general for arg in self.args)


def _shape(spec):
    return getattr(spec, "shape", None)


def _dtype(spec):
    return getattr(spec, "dtype", None)


@export("tf.types.experimental.ConcreteFunction")
class ConcreteFunction:
    """A function traced for one signature; called with tensors, or as the function was."""

    def __init__(self, function, trace, signature, variables):
        self._function = function  # its traces and variables live as long as this does
        self._trace, self._signature = trace, signature
        self._variables = variables
        self.name = trace.name
        self.__name__ = trace.name

    def __call__(self, *args, **kwargs):
        trace = self._trace
        leaves = self._leaves_of(args, kwargs)
        values = []
        for (at, number), leaf in zip(trace.inputs, leaves, strict=True):
            wanted = trace.args[at]
            if number is None and not isinstance(leaf, Tensor):
                leaf = _tidemark.convert(leaf, wanted.dtype._enum)
            if number is None and not wanted.accepts(TensorArg.of(leaf)):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Binding inputs to tf.function failed: {self.name} expects {wanted!r} for "
                    f"input {len(values)}; given was {TensorArg.of(leaf)!r}.",
                )
            values.append(_tidemark.convert(leaf, number) if number is not None else leaf)
        trace.calls += 1
        return trace.compute(values)

    def _leaves_of(self, args, kwargs):
        """The leaves that are inputs, from a call by signature or by flat tensors and names."""
        trace, count = self._trace, len(self._trace.inputs)
        if kwargs and not args:
            names = [getattr(trace.args[at], "name", None) for at, _ in trace.inputs]
            if None not in names and sorted(kwargs) == sorted(names):
                return [kwargs[name] for name in names]
        try:
            call = Call(self._signature.bind(*args, **kwargs))
        except TypeError:
            flat = nest.flatten((args, kwargs))
            if len(flat) == count:
                return flat
            raise
        if call.token == trace.token:
            self._check_values(call)
            return [call.leaves[at] for at, _ in trace.inputs]
        flat = nest.flatten((args, kwargs))
        if len(flat) == count:
            return flat
        raise TypeError(
            f"{self.name} takes {count} tensors: {self.pretty_printed_signature()}; given were "
            f"{len(flat)}"
        )

    def _check_values(self, call):
        """Raises where a Python value is another than the one that the function was traced for."""
        for wanted, given in zip(self._trace.args, call.args, strict=True):
            if isinstance(wanted, ValueArg) and wanted != given:
                raise TypeError(
                    f"Can not cast {given!r} to {wanted!r}: {self.name} was traced for this value "
                    "and keeps it. Leave the argument out, or get another concrete function."
                )

    graph = property(lambda self: FuncGraph.of_trace(self._trace))
    output_shapes = property(lambda self: nest.map_structure(_shape, self.structured_outputs))
    output_dtypes = property(lambda self: nest.map_structure(_dtype, self.structured_outputs))
    function_type = property(lambda self: self.structured_input_signature)
    outputs = property(lambda self: self._trace.graph.outputs)
    captured_inputs = property(lambda self: list(self._variables))

    @property
    def variables(self):
        """Variables the function uses, as far as they are alive."""
        return tuple(self._variables)

    @property
    def trainable_variables(self):
        return tuple(v for v in self._variables if v.trainable)

    @property
    def inputs(self):
        return [self._trace.args[at].spec() for at, number in self._trace.inputs if number is None]

    @property
    def structured_input_signature(self):
        """The arguments as specs: (args, kwargs)."""
        trace = self._trace
        leaves = [
            arg.spec() if isinstance(arg, TensorArg) else getattr(arg, "value", arg)
            for arg in trace.args
        ]
        return nest.pack_sequence_as(trace.call._structure, leaves)

    @property
    def structured_outputs(self):
        """The results as specs."""
        outputs = [TensorArg.of(t).spec() for t in self._trace.graph.outputs]
        return self._trace.structure.pack(outputs)

    def pretty_printed_signature(self, verbose=True):
        """The parameters, the results and what the function captured, a line each."""
        return signature_text(self._trace, self._signature, self._variables)

    def __repr__(self):
        return f"<ConcreteFunction {self.pretty_printed_signature()}>"


def signature_text(trace, signature, variables=()):
    """What a trace takes and gives, in TensorFlow's words."""
    leaves = [
        repr(arg.spec()) if isinstance(arg, TensorArg) else f"Literal[{arg!r}]"
        for arg in trace.args
    ]
    for at, spec, count in reversed(trace.call._specs):
        leaves[at : at + count] = [repr(spec)]
    args, kwargs = nest.pack_sequence_as(trace.call._structure, [_Text(leaf) for leaf in leaves])
    named = [*signature.named(args), *kwargs.items()]
    parameters = [f"  {name} (POSITIONAL_OR_KEYWORD): {_typed(value)}" for name, value in named]
    outputs = trace.structure.pack([TensorArg.of(t).spec() for t in trace.graph.outputs])
    captures = [f"  {v.name}: {TensorArg.of(v).spec()!r}" for v in variables]
    return "\n".join(
        ["Input Parameters:", *(parameters or ["  None"]), "Output Type:", f"  {_typed(outputs)}",
         "Captures:", *(captures or ["  None"])]
    )  # fmt: skip


class _Text:
    """A leaf that is written as this text."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


def _typed(value):
    """A structure of specs as the type that it stands for."""
    if isinstance(value, dict):
        inside = ", ".join(f"[{key!r}, {_typed(item)}]" for key, item in value.items())
        return f"Dict[{inside}]"
    if isinstance(value, (list, tuple)):
        kind = "List" if isinstance(value, list) else "Tuple"
        return f"{kind}[{', '.join(_typed(item) for item in value)}]"
    return repr(value)


__all__ = ["ConcreteFunction", "Trace", "arguments"]
