"""How a call fits one trace: by the parameters it was traced for, or by its flat list of inputs."""

from __future__ import annotations

import inspect

from tidemark import _tidemark, nest
from tidemark._functions.arguments import Call, spec_of
from tidemark._tensor.specs import TensorSpec
from tidemark._tidemark import Argument, Tensor

_Parameter = inspect.Parameter


class Binding:
    """The parameters and inputs of one trace."""

    def __init__(self, trace, signature):
        self._trace, self._signature = trace, signature

    # --- by parameters -----------------------------------------------------------------------

    def parameters(self):
        """The parameters of the trace: a parameter for each argument of `*args` and `**kwargs`."""
        args, kwargs = self._trace.call._structure
        kinds = {p.kind for p in self._signature._signature.parameters.values()}
        by_place = (
            _Parameter.POSITIONAL_ONLY
            if _Parameter.VAR_POSITIONAL in kinds
            else _Parameter.POSITIONAL_OR_KEYWORD
        )
        named = [_Parameter(name, by_place) for name, _ in self._signature.named(args)]
        return named + [_Parameter(name, _Parameter.KEYWORD_ONLY) for name in kwargs]

    def bind(self, args, kwargs):
        """The leaves that are inputs of a call by parameters or, failing that, by flat inputs."""
        try:
            return self._bind_parameters(args, kwargs)
        except TypeError as error:
            why = str(error)
        try:
            return self.bind_flat(args, kwargs)
        except TypeError as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{why}`. Received args: {args} and "
                f"kwargs: {kwargs} for signature: {self.text()}.\n"
                f"Fallback to flat signature also failed due to: {error}"
            ) from None

    def _bind_parameters(self, args, kwargs):
        parameters = self.parameters()
        bound = inspect.Signature(parameters).bind(*args, **kwargs).arguments
        by_name = [p.name for p in parameters if p.kind is _Parameter.KEYWORD_ONLY]
        values = tuple(bound[p.name] for p in parameters if p.name not in by_name)
        call = Call((values, {name: bound[name] for name in by_name}))
        if call.token != self._trace.token or len(call.leaves) != len(self._trace.args):
            raise TypeError(self._why_not(call))
        for wanted, given, leaf in zip(self._trace.args, call.args, call.leaves, strict=True):
            if not wanted.is_input and not wanted.accepts(given):
                raise TypeError(f"Can not cast {leaf!r} to Literal[{wanted!r}]")
            if wanted.is_tensor and isinstance(leaf, Tensor) and leaf.dtype != wanted.dtype:
                raise TypeError(f"Can not cast {spec_of(given)!r} to {spec_of(wanted)!r}")
        return [call.leaves[at] for at, _ in self._trace.inputs]

    def _why_not(self, call):
        """Why the structure of a call is not that of the trace."""
        (args, kwargs), (given_args, given_kwargs) = self._trace.call._structure, call._structure
        wanted, given = [*args, *kwargs.values()], [*given_args, *given_kwargs.values()]
        for one, other in zip(wanted, given, strict=True):
            if nest.is_nested(one) and type(one) is not type(other):
                kind = "a Dict" if isinstance(one, dict) else type(one).__name__
                return f"Can not cast {other!r} to {kind} type."
        return (
            "The two structures don't have the same nested structure. First structure: "
            f"{self.text()} Second structure: {given!r}"
        )

    # --- by flat inputs ----------------------------------------------------------------------

    def input_names(self):
        """The parameter that each input comes from, or the name of its spec."""
        trace = self._trace
        places = list(range(len(trace.args)))
        args, kwargs = self._packed(places, lambda _, parts: list(parts))
        owner = {
            at: name
            for name, value in (*self._signature.named(args), *kwargs.items())
            for at in nest.flatten(value)
        }
        return [getattr(trace.args[at], "name", None) or owner[at] for at, _ in trace.inputs]

    def bind_flat(self, args, kwargs):
        """One tensor for each input: by place, then by name."""
        names = _distinct(self.input_names())
        text = f"{self._trace.name}({', '.join(names)})"
        if len(args) > len(names):
            raise TypeError(f"{text} takes {len(names)} positional arguments, got {len(args)}.")
        twice = [name for name in names[: len(args)] if name in kwargs]
        if twice:
            raise TypeError(f"{text} got two values for '{twice[0]}'.")
        missing = [name for name in names[len(args) :] if name not in kwargs]
        if missing:
            raise TypeError(f"{text} missing required arguments: {', '.join(missing)}.")
        unknown = [name for name in kwargs if name not in names]
        if unknown:
            raise TypeError(f"{text} got unexpected keyword arguments: {', '.join(unknown)}.")
        values = [*args, *(kwargs[name] for name in names[len(args) :])]
        for at, value in enumerate(values):
            if not isinstance(value, (Tensor, _tidemark.VariableBase)):
                raise TypeError(
                    f"{text}: expected argument #{at}(zero-based) to be a Tensor; got "
                    f"{type(value).__name__} ({value})."
                )
        return values

    # --- in words ----------------------------------------------------------------------------

    def text(self, verbose=False, variables=()):
        """What the trace takes and gives, in TensorFlow's words: a line, or a line for each."""
        types = self._types()
        gives = _typed(self.outputs())
        if not verbose:
            shown = [
                p.replace(annotation=_Text(text))
                for p, text in zip(self.parameters(), types, strict=True)
            ]
            return f"{inspect.Signature(shown)} -> {gives}"
        takes = [
            f"  {p.name} ({p.kind.name}): {text}"
            for p, text in zip(self.parameters(), types, strict=True)
        ]
        captures = [f"  {v.name}: {TensorSpec(v.shape, v.dtype)!r}" for v in variables]
        return "\n".join(
            ["Input Parameters:", *(takes or ["  None"]), "Output Type:", f"  {gives}",
             "Captures:", *(captures or ["  None"])]
        )  # fmt: skip

    def _types(self):
        """The type of each parameter as text."""
        texts = [
            _Text(repr(spec_of(arg)) if arg.is_tensor else f"Literal[{arg!r}]")
            for arg in self._trace.args
        ]
        args, kwargs = self._packed(texts, lambda spec, _: _Text(repr(spec)))
        return [_typed(value) for value in (*args, *kwargs.values())]

    def _packed(self, leaves, composite):
        """(args, kwargs) over a value for each leaf; ``composite(spec, values)`` is the one of a
        composite tensor."""
        leaves = list(leaves)
        for at, spec, count in reversed(self._trace.call._specs):
            leaves[at : at + count] = [composite(spec, leaves[at : at + count])]
        args, kwargs = self._trace.call._structure
        flat = iter(leaves)
        take = lambda _: next(flat)  # noqa: E731 - a value may be a list itself
        return nest.map_structure(take, args), nest.map_structure(take, kwargs)

    def arguments(self):
        """(args, kwargs) as specs, each named as its input; other values as they are."""
        names = iter(self._paths())
        leaves = []
        for arg in self._trace.args:
            name = next(names)
            spec = TensorSpec(arg.shape, arg.dtype, arg.name or name) if arg.is_tensor else None
            leaves.append(arg.value if spec is None else spec)
        return self._packed(leaves, lambda spec, _: spec)

    def _paths(self):
        """What each leaf is called by its parameter and its keys and places inside of it."""
        args, kwargs = self._packed(self._trace.args, lambda _, parts: list(parts))
        named = (*self._signature.named(args), *kwargs.items())
        return [path for name, value in named for path in _paths_in(value, str(name))]

    def outputs(self):
        """The results as specs."""
        trace = self._trace
        return trace.structure.described([spec_of(Argument.of(t)) for t in trace.graph.outputs])


def _distinct(names):
    """The names, a number behind those that were there before."""
    out = []
    for name in names:
        number, base = 0, name
        while name in out:
            number += 1
            name = f"{base}_{number}"
        out.append(name)
    return out


def _paths_in(value, prefix):
    """What each leaf of a nested value is called."""
    if not nest.is_nested(value):
        return [prefix]
    keys = sorted(value) if isinstance(value, dict) else range(len(nest._children(value)))
    pairs = zip(keys, nest._children(value), strict=True)
    return [path for key, part in pairs for path in _paths_in(part, f"{prefix}_{key}")]


class _Text:
    """A leaf or an annotation that is written as this text."""

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
