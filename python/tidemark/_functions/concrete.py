"""One traced function: its graph, what it takes and returns."""

from __future__ import annotations

from tidemark import _tidemark, nest
from tidemark._export import export
from tidemark._functions.arguments import spec_of
from tidemark._functions.binding import Binding
from tidemark._graph.func_graph import FuncGraph
from tidemark._graph.scopes import control_dependencies
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
        self._binding = Binding(trace, signature)
        self._variables = variables
        self.name = trace.name
        self.__name__ = trace.name

    def __call__(self, *args, **kwargs):
        return self._run(self._binding.bind(args, kwargs))

    def _run(self, leaves):
        """The result for the leaves that are inputs."""
        trace, wanted_args, values = self._trace, self._trace.args, []
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

    def _call_with_flat_signature(self, args, kwargs):
        """A call with one tensor for each input of the graph, by place or by name."""
        return self._run(self._binding.bind_flat(args, kwargs))

    @property
    def graph(self):
        """The graph that was traced."""
        made = FuncGraph.of_trace(self._trace, self._binding.input_names())
        made.variables = tuple(self._variables)
        return made

    def add_to_graph(self, g=None, overwrite=False):
        """Makes the function known to a graph; here graphs hold functions where they call them."""

    def add_gradient_functions_to_graph(self, g=None):
        """As add_to_graph, with what gives its gradients; those are found when they are asked."""

    output_shapes = property(lambda self: nest.map_structure(_shape, self._binding.outputs()))
    output_dtypes = property(lambda self: nest.map_structure(_dtype, self._binding.outputs()))
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
        return self._binding.arguments()

    @property
    def structured_outputs(self):
        """The results as tensors of the function's graph."""
        return self._trace.structure.pack(self._trace.graph.outputs)

    def pretty_printed_signature(self, verbose=True):
        """The parameters, the results and what the function captured, a line each; in one line,
        and without what it captured, where it is not to be verbose."""
        return self._binding.text(verbose, self._variables)

    def __str__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self):
        return (
            f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)} at 0x{id(self):X}>"
        )


__all__ = ["ConcreteFunction", "Trace"]
