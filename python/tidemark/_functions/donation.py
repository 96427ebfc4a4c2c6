"""``donate=``: the arguments whose memory a function's calls may have."""

from __future__ import annotations

import inspect

from tidemark import nest


class Donated:
    """The parameters that calls give up, by name."""

    def __init__(self, donate, name, signature):
        given = (donate,) if isinstance(donate, (str, int)) else donate
        parameters = signature._signature.parameters
        try:
            chosen = [self._parameter(one, name, list(parameters), signature) for one in given]
        except TypeError as error:
            raise TypeError(
                f"donate takes names or positions of parameters of {name}{signature}; given was "
                f"{donate!r}"
            ) from error
        self.names = frozenset(chosen)
        kinds = {p.kind: p.name for p in parameters.values()}
        self._more = kinds.get(inspect.Parameter.VAR_POSITIONAL)
        self._keywords = kinds.get(inspect.Parameter.VAR_KEYWORD)
        self._parameters = list(parameters)

    @staticmethod
    def _parameter(one, name, parameters, signature):
        if isinstance(one, bool) or not isinstance(one, (str, int)):
            raise TypeError(f"{one!r} is neither a name nor a position")
        if isinstance(one, str):
            if one not in parameters:
                raise ValueError(
                    f"donate names {one!r}, but {name}{signature} has no such parameter"
                )
            return one
        if not 0 <= one < len(parameters):
            raise ValueError(
                f"donate names position {one}, but {name}{signature} has {len(parameters)} "
                "parameters, counted from 0"
            )
        return parameters[one]

    def inputs(self, call, args):
        """Which inputs of a trace, in their order, are donated tensors."""
        leaves = self._leaves(call)
        inputs = [(at, arg) for at, arg in enumerate(args) if arg.is_input]
        return [index for index, (at, arg) in enumerate(inputs) if at in leaves and arg.is_tensor]

    def _leaves(self, call):
        counts = {at: count for at, _, count in call._specs}  # of what has several tensors
        found, at = set(), 0
        for name, value in self._named(*call._structure):
            for _ in nest.flatten(value):
                count = counts.get(at, 1)
                if name in self.names:
                    found.update(range(at, at + count))
                at += count
        return found

    def _named(self, args, kwargs):
        """(parameter, value) in the order of the leaves."""
        known = self._parameters.index(self._more) if self._more else len(self._parameters)
        for at, value in enumerate(args):
            yield self._parameters[at] if at < known else self._more, value
        for key in sorted(kwargs):
            yield key if key in self._parameters else self._keywords, kwargs[key]
