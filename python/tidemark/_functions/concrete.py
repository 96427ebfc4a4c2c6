"""One traced function: its graph, what it takes and returns."""

from __future__ import annotations

from tidemark import _tidemark, nest
from tidemark._export import export
from tidemark._functions.arguments import Call, spec_of
from tidemark._graph.func_graph import FuncGraph
from tidemark._graph.scopes import control_dependencies
from tidemark._tensor.specs import TensorSpec
from tidemark._tidemark import Argument, Tensor
from tidemark.errors import InvalidArgumentError


class Trace(_tidemark.TraceBase):
    """The result of tracing: runs without Python."""

    __slots__ = ("call", "structure", "state", "name", "awaited", "__weakref__")

    def __init__(
        self, name, graph, call, args, structure, captures=(), awaited=(), reason="", line="",
        code_runs=1,
    ):  # fmt: skip
        """``args``: what it takes in the place of the call's leaves. ``captures`` and ``awaited``:
        tensors and operations of the graph that the call is made in. ``code_runs``: how often the
        code ran to make it."""
        graph.set_name(name)
        self.name, self.structure, self.state = name, structure, None
        self.call, self.awaited = call.like(), awaited
        pack = None if structure.is_one_tensor else structure.pack
        captures, is_for_one_call = list(captures), bool(captures or awaited)
        self._fill(
            graph, call.token, args, captures, is_for_one_call, pack, reason, line, code_runs
        )

    def run_in_session_graph(self, leaves):
        """Adds the call, given all leaves of its arguments, to the graph of a session."""
        return self.compute(
            leaves[at] if number is None else _tidemark.convert(leaves[at], number)
            for at, number in self.inputs
        )

    def compute(self, values):
        """The result for these inputs. In a graph of a session a function with effects becomes one
        operation, which has them whenever one of its results is asked for."""
        values = [*values, *self.captures]
        if not _tidemark.builds_for_sessions():
            return self.structure.pack(self.graph.run(values))
        with control_dependencies(self.awaited):
            run = self.graph.add_as_one_step if self.graph.num_effects else self.graph.run
            return self.structure.pack(run(values))


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
        leaves, wanted_args = self._leaves_of(args, kwargs), trace.args
        values = []
        for (at, number), leaf in zip(trace.inputs, leaves, strict=True):
            wanted = wanted_args[at]
            if number is None and not isinstance(leaf, Tensor):
                leaf = _tidemark.convert(leaf, wanted.dtype._enum)
            if number is None and not wanted.accepts(Argument.of(leaf)):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Binding inputs to tf.function failed: {self.name} expects {wanted!r} for "
                    f"input {len(values)}; given was {Argument.of(leaf)!r}.",
                )
            values.append(_tidemark.convert(leaf, number) if number is not None else leaf)
        trace.count_call()
        return trace.compute(values)

    def _leaves_of(self, args, kwargs):
        """The leaves that are inputs, from a call by signature or by flat tensors and names."""
        trace, count = self._trace, len(self._trace.inputs)
        if kwargs and not args:
            names = [arg.name for arg in trace.args if arg.is_input]
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
            if not wanted.is_input and not wanted.accepts(given):
                raise TypeError(
                    f"Can not cast {given!r} to {wanted!r}: {self.name} was traced for this value "
                    "and keeps it. Leave the argument out, or get another concrete function."
                )

    @property
    def graph(self):
        """The graph that was traced."""
        return FuncGraph.of_trace(self._trace, input_names(self._trace, self._signature))

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
        return [spec_of(arg) for arg in self._trace.args if arg.is_tensor]

    @property
    def structured_input_signature(self):
        """The arguments as specs: (args, kwargs)."""
        trace = self._trace
        leaves = [spec_of(arg) if arg.is_tensor else arg.value for arg in trace.args]
        return nest.pack_sequence_as(trace.call._structure, leaves)

    @property
    def structured_outputs(self):
        """The results as specs."""
        outputs = [spec_of(Argument.of(t)) for t in self._trace.graph.outputs]
        return self._trace.structure.pack(outputs)

    def pretty_printed_signature(self, verbose=True):
        """The parameters, the results and what the function captured, a line each."""
        return signature_text(self._trace, self._signature, self._variables)

    def __repr__(self):
        return f"<ConcreteFunction {self.pretty_printed_signature()}>"


def input_names(trace, signature):
    """The parameter that each input of the trace comes from."""
    places = nest.pack_sequence_as(trace.call._structure, list(range(len(trace.args))))
    args, kwargs = places
    owner = {
        at: name
        for name, value in (*signature.named(args), *kwargs.items())
        for at in nest.flatten(value)
    }
    return [getattr(trace.args[at], "name", None) or owner[at] for at, _ in trace.inputs]


def signature_text(trace, signature, variables=()):
    """What a trace takes and gives, in TensorFlow's words."""
    leaves = [repr(spec_of(arg)) if arg.is_tensor else f"Literal[{arg!r}]" for arg in trace.args]
    for at, spec, count in reversed(trace.call._specs):
        leaves[at : at + count] = [repr(spec)]
    args, kwargs = nest.pack_sequence_as(trace.call._structure, [_Text(leaf) for leaf in leaves])
    named = [*signature.named(args), *kwargs.items()]
    parameters = [f"  {name} (POSITIONAL_OR_KEYWORD): {_typed(value)}" for name, value in named]
    outputs = trace.structure.pack([spec_of(Argument.of(t)) for t in trace.graph.outputs])
    captures = [f"  {v.name}: {TensorSpec(v.shape, v.dtype)!r}" for v in variables]
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


__all__ = ["ConcreteFunction", "Trace"]
