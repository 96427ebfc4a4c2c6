"""Functions on their way into a file, and those that came out of one."""

from __future__ import annotations

import inspect

from tidemark import _tidemark, nest
from tidemark._functions.arguments import Call, spec_of
from tidemark._functions.concrete import ConcreteFunction, Trace
from tidemark._functions.function import Function, _alive_variables
from tidemark._functions.signature import Signature
from tidemark._graph.tracing import Structure
from tidemark._tensor.specs import TensorSpec, TypeSpec
from tidemark._tidemark import Argument
from tidemark.errors import InvalidArgumentError
from tidemark.saved_model._structure import NumberSlot, decode, encode

_NO_DEFAULT = {"none": None}


# --- into the file -------------------------------------------------------------------------------


def _arguments_of(trace):
    """(args, kwargs) of a trace with specs, numbers and values as its leaves."""
    leaves = []
    for arg in trace.args:
        if arg.is_tensor:
            leaves.append(spec_of(arg))
        else:
            leaves.append(NumberSlot(arg.type) if arg.is_number else arg.value)
    for at, spec, count in reversed(trace.call._specs):
        leaves[at : at + count] = [spec]
    return nest.pack_sequence_as(trace.call._structure, leaves)


def _encode_result(structure):
    """A Structure, taken apart."""
    parts = [
        [None if spec is None else encode(spec), encode(kept), count]
        for spec, kept, count in structure._parts
    ]
    return {"value": encode(structure._value), "parts": parts}


def encode_trace(trace):
    """What Python has to know of a traced function beside its graph."""
    return {"arguments": encode(_arguments_of(trace)), "result": _encode_result(trace.structure)}


def encode_parameters(signature):
    """The parameters of a Python function; defaults that no file can hold are left out."""
    out = []
    for parameter in signature._signature.parameters.values():
        default = _NO_DEFAULT
        if parameter.default is not inspect.Parameter.empty:
            try:
                default = {"is": encode(parameter.default)}
            except InvalidArgumentError:
                default = _NO_DEFAULT
        out.append([parameter.name, int(parameter.kind), default])
    return out


def traces_of(function):
    """The traces of a tf.function that can be saved; the declared one is made where it was not."""
    if isinstance(function, (ConcreteFunction, RestoredConcrete)):
        return [function._trace]
    if isinstance(function, RestoredFunction):
        return list(function._traces)
    if function.input_signature is not None and not function._traces:
        function.get_concrete_function()
    saved = []
    for trace in function._traces:
        if trace.captures:
            continue
        try:
            encode_trace(trace)
        except InvalidArgumentError:  # arguments that are objects of this process
            continue
        saved.append(trace)
    return saved


def input_names(trace, signature=None):
    """A name each input: as its spec says, or the parameter."""
    out = []
    for arg, parameter in zip(trace.args, _leaf_parameters(trace, signature), strict=True):
        if not arg.is_input:
            continue
        name = arg.name or parameter
        taken, number = name, 0
        while taken in out:
            number += 1
            taken = f"{name}_{number}"
        out.append(taken)
    return out


def _leaf_parameters(trace, signature):
    """The parameter each leaf of the arguments belongs to."""
    args, kwargs = trace.call._structure
    known = list(signature._signature.parameters) if signature is not None else []
    names = []
    for at, value in enumerate(args):
        name = known[at] if at < len(known) else f"args_{at}"
        names += [name] * len(nest.flatten(value))
    for name in sorted(kwargs):
        names += [name] * len(nest.flatten(kwargs[name]))
    for at, _, count in trace.call._specs:  # parts of a composite share its name
        names[at : at + 1] = [names[at]] * count
    return names


def output_names(trace):
    """A name each output: the keys of a dictionary, or output_0, output_1, …"""
    value = trace.structure._value
    count = sum(part[2] for part in trace.structure._parts)
    if isinstance(value, dict) and all(v is None for v in value.values()) and count == len(value):
        return [str(name) for name in sorted(value)]
    return [f"output_{number}" for number in range(count)]


# --- out of the file -----------------------------------------------------------------------------


def decode_trace(name, graph, data):
    """A Trace over a graph that was read."""
    call = Call(decode(data["arguments"]))
    args = [
        Argument.number(leaf.kind) if isinstance(leaf, NumberSlot) else leaf for leaf in call.leaves
    ]
    parts = [
        (None if spec is None else decode(spec), decode(kept), int(count))
        for spec, kept, count in data["result"]["parts"]
    ]
    structure = Structure(decode(data["result"]["value"]), parts)
    return Trace(name, graph, call, args, structure, reason="it was saved")


def decode_parameters(data):
    """The Signature that ``encode_parameters`` was given."""
    kinds = list(inspect._ParameterKind)
    parameters = []
    for name, kind, default in data:
        default = decode(default["is"]) if "is" in default else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kinds[kind], default=default))
    made = Signature.__new__(Signature)
    try:
        made._signature = inspect.Signature(parameters)
    except ValueError:  # a default that could not be saved stands before others
        plain = [p.replace(default=inspect.Parameter.empty) for p in parameters]
        made._signature = inspect.Signature(plain)
    made._plain = {p.kind for p in parameters} <= {
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.POSITIONAL_ONLY,
    }
    made._count = len(parameters)
    return made


class RestoredConcrete(ConcreteFunction):
    """A traced function out of a file."""


def concrete(trace, signature):
    """The trace as tf.function's get_concrete_function gives it."""
    return RestoredConcrete(None, trace, signature, _alive_variables(trace.graph.variable_ids))


class RestoredFunction:
    """A tf.function out of a file: it has the traces it was saved with and makes no others."""

    def __init__(self, name, traces, signature):
        self.__name__ = self._name = name
        self._traces, self._signature = traces, signature

    def _call_of(self, args, kwargs):
        return Call(self._signature.bind(*args, **kwargs))

    def __call__(self, *args, **kwargs):
        call = self._call_of(args, kwargs)
        for trace in self._traces:
            if trace.accepts(call):
                return trace.run(call.leaves)
        for trace in self._traces:
            leaves = _fitted(trace, call)
            if leaves is not None:
                return trace.run(leaves)
        if not self._traces:
            raise ValueError(
                "Found zero restored functions for caller function: "
                f"{self._name} had not been traced when it was saved."
            )
        options = "\n".join(f"  {self._name}({', '.join(map(repr, t.args))})" for t in self._traces)
        raise ValueError(
            f"Could not find a matching concrete function of {self._name} to call in the saved "
            f"model. Got:\n  {self._name}({', '.join(map(repr, call.args))})\nIt was saved for:\n"
            f"{options}"
        )

    def _list_all_concrete_functions(self):
        return self.concrete_functions

    @property
    def concrete_functions(self):
        """One for each trace that was saved."""
        return [concrete(trace, self._signature) for trace in self._traces]

    def get_concrete_function(self, *args, **kwargs):
        """The trace for these arguments or specs."""
        if not args and not kwargs and len(self._traces) == 1:
            return concrete(self._traces[0], self._signature)
        call = self._call_of(args, kwargs)
        for trace in self._traces:
            if trace.accepts(call):
                return concrete(trace, self._signature)
        raise ValueError(f"{self._name} was not saved for {', '.join(map(repr, call.args))}")

    @property
    def variables(self):
        found = {id(v): v for one in self.concrete_functions for v in one.variables}
        return tuple(found.values())

    @property
    def trainable_variables(self):
        return tuple(v for v in self.variables if v.trainable)

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {f"trace_{at}": one for at, one in enumerate(self.concrete_functions)}

    function_spec = property(lambda self: self._signature)

    def __repr__(self):
        return f"<tf.function {self._name}{self._signature} of a saved model>"


def _fitted(trace, call):
    """The leaves as the trace wants them, where they can be converted to tensors of it; None."""
    try:
        values = nest.flatten_up_to(trace.call._structure, call._structure)
    except (ValueError, TypeError, KeyError):
        return None
    if len(values) != len(trace.args) or trace.call._specs:
        return None
    fitted = []
    for wanted, value in zip(trace.args, values, strict=True):
        if wanted.is_tensor and not isinstance(value, TypeSpec):
            try:
                tensor = _tidemark.convert(value, wanted.dtype._enum)
            except (TypeError, ValueError):
                return None
            if not wanted.accepts(Argument.of(tensor)):
                return None
            fitted.append(tensor)
        elif not wanted.is_tensor and wanted.accepts(Argument.of(value)):
            fitted.append(value)
        else:
            return None
    return fitted


class SignatureFunction(RestoredConcrete):
    """What ``loaded.signatures["serving_default"]`` is: called by name, gives a dictionary."""

    def __init__(self, name, graph, inputs, outputs):
        specs = {
            key: TensorSpec(arg.shape, arg.dtype, key)
            for key, arg in zip(inputs, map(Argument.of, graph.inputs), strict=True)
        }
        call = Call(((), specs))
        order = sorted(inputs)
        structure = Structure(dict.fromkeys(sorted(outputs)), [(None, None, 1)] * len(outputs))
        trace = Trace(name, graph, call, call.leaves, structure)
        super().__init__(None, trace, None, _alive_variables(graph.variable_ids))
        self._names, self._outputs = list(inputs), list(outputs)
        self._arg_keywords = order

    def __call__(self, *args, **kwargs):
        graph, given = self._trace.graph, dict(kwargs)
        if len(args) == 1 and len(self._names) == 1:
            given[self._names[0]] = args[0]
        elif args:
            raise TypeError(
                f"Signature functions take their {len(self._names)} inputs by name: "
                f"{', '.join(self._arg_keywords)}"
            )
        if sorted(given) != self._arg_keywords:
            raise TypeError(
                f"{self.name} takes the inputs {', '.join(self._arg_keywords)}; given were "
                f"{', '.join(sorted(given)) or 'none'}"
            )
        specs = dict(zip(self._arg_keywords, self._trace.args, strict=True))
        values = []
        for name in self._names:
            value = _tidemark.convert(given[name], specs[name].dtype._enum)
            if not specs[name].accepts(Argument.of(value)):
                raise InvalidArgumentError(
                    None, None, f"{self.name}: input '{name}' must be {specs[name]!r}; given was "
                    f"{Argument.of(value)!r}",
                )  # fmt: skip
            values.append(value)
        return dict(zip(self._outputs, graph.run(values), strict=True))

    @property
    def structured_input_signature(self):
        return (), dict(zip(self._arg_keywords, map(spec_of, self._trace.args), strict=True))

    @property
    def structured_outputs(self):
        outputs = map(Argument.of, self._trace.graph.outputs)
        return {
            name: TensorSpec(arg.shape, arg.dtype, name)
            for name, arg in zip(self._outputs, outputs, strict=True)
        }


def is_function(value):
    """Whether a value is a function that can be saved."""
    return isinstance(value, (Function, ConcreteFunction, RestoredFunction))
