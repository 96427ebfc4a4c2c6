"""How calls bind to the parameters of a Python function, and to a declared signature of inputs."""

from __future__ import annotations

import inspect

from tidemark import _tidemark, nest
from tidemark._functions.arguments import Call
from tidemark._tensor.specs import TensorSpec, TypeSpec
from tidemark._tidemark import Tensor

_NONE = inspect.Parameter.empty
_ANY_NUMBER = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
_PLAIN = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY}


class Signature:
    """The parameters of a Python function."""

    __slots__ = ("_signature", "_count", "_plain")

    def __init__(self, function, skip_first):
        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())
        if skip_first:
            parameters = parameters[1:]
        self._signature = signature.replace(parameters=parameters)
        self._plain = {p.kind for p in parameters} <= _PLAIN
        self._count = len(parameters)

    def bind(self, *args, **kwargs):
        """(positional values, keyword values), defaults filled in."""
        if self._plain and not kwargs and len(args) == self._count:
            return args, {}
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args, bound.kwargs

    @property
    def names(self):
        return list(self._signature.parameters)

    def named(self, args):
        """(name, value) of positional values."""
        names = self.names
        extra = next(
            (p.name for p in self._signature.parameters.values()
             if p.kind is inspect.Parameter.VAR_POSITIONAL), "args",
        )  # fmt: skip
        known = names.index(extra) if extra in names else len(names)
        return [
            (names[at] if at < known else f"{extra}_{at - known}", value)
            for at, value in enumerate(args)
        ]

    def default(self, index):
        """The default of a parameter, as ``inspect`` says it."""
        return list(self._signature.parameters.values())[index].default

    def __str__(self):
        return str(self._signature)


class DeclaredInputs:
    """``input_signature=``: every call fits it, so there is one trace."""

    def __init__(self, specs, name, signature):
        if not isinstance(specs, (list, tuple)):
            raise TypeError(f"input_signature must be either a tuple or a list, got {specs!r}")
        wrong = [leaf for leaf in nest.flatten(specs) if not isinstance(leaf, TypeSpec)]
        if wrong:
            raise TypeError(
                "input_signature must be a possibly nested sequence of TensorSpec objects, got "
                f"{wrong!r}"
            )
        self.specs, self._name = tuple(specs), name
        kinds = [p.kind for p in signature._signature.parameters.values()]
        takes_more = inspect.Parameter.VAR_POSITIONAL in kinds
        if len(self.specs) > signature._count and not takes_more:
            raise TypeError(
                f"input_signature has {len(self.specs)} entries; {name}{signature} takes "
                f"{signature._count} arguments"
            )
        for parameter in self._without_spec(signature):
            if parameter.default is _NONE and parameter.kind not in _ANY_NUMBER:
                raise TypeError(f"input_signature missing type constraint for {parameter.name}")

    def _without_spec(self, signature):
        """The parameters after those that the specs are for; ``self`` has none."""
        parameters = list(signature._signature.parameters.values())
        if parameters and parameters[0].name == "self":
            parameters = parameters[1:]
        self._names = [p.name for p in parameters[: len(self.specs)]]
        return parameters[len(self.specs) :]

    def __str__(self):
        named = zip(self._names, self.specs, strict=False)
        return f"({', '.join(f'{name}: {spec!r}' for name, spec in named)})"

    @property
    def arguments(self):
        """What to trace for, one each leaf of the calls."""
        return Call((self.specs, {})).leaves

    def fit(self, signature, args, kwargs):
        """The arguments as the specs say; what comes after them has its defaults."""
        values = [*args, *kwargs.values()]
        count = len(self.specs)
        if len(values) < count:
            raise TypeError(
                f"{self._name} takes {count} arguments by its input_signature; given were "
                f"{len(values)}"
            )
        for at, value in enumerate(values[count:], count):
            if value is not signature.default(at):
                raise TypeError(f"Can not cast {value!r} to Literal[{signature.default(at)!r}]")
        fitted = [
            self._fit(value, spec) for value, spec in zip(values[:count], self.specs, strict=True)
        ]
        if count <= len(args):  # those that only keywords give have no spec
            return (*fitted, *args[count:]), kwargs
        return (*fitted, *values[count:]), {}

    def _fit(self, value, spec):
        if nest.is_nested(spec):
            try:
                parts = nest.flatten_up_to(spec, value)
            except (ValueError, TypeError, KeyError):
                parts = None
            same = isinstance(value, dict) == isinstance(spec, dict)
            if parts is None or not same or len(parts) != len(nest.flatten(spec)):
                raise TypeError(
                    f"{self._name}: the arguments do not have the structure of the "
                    f"input_signature {self.specs}; given was {value!r}"
                )
            fitted = [self._fit(p, s) for p, s in zip(parts, nest.flatten(spec), strict=True)]
            return nest.pack_sequence_as(spec, fitted)
        if isinstance(value, TypeSpec):
            return value
        if isinstance(spec, TensorSpec):
            return self._tensor(value, spec)
        if not spec.is_compatible_with(value):
            raise TypeError(f"Can not cast {value!r} to {spec!r}")
        return value

    def _tensor(self, value, spec):
        if not isinstance(value, Tensor):
            try:
                value = _tidemark.convert(value, spec.dtype._enum)
            except (TypeError, ValueError) as error:
                raise TypeError(f"Can not cast {value!r} to {spec!r}: {error}") from None
        if not spec.is_compatible_with(value):
            raise TypeError(
                f"Can not cast TensorSpec(shape={value.shape}, dtype={value.dtype!r}, name=None) "
                f"to {spec!r}"
            )
        return value
