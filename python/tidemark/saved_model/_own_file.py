"""A model as one file of Tidemark's own (docs/saved-model.md), which holds whatever runs here."""

from __future__ import annotations

import json

from tidemark import _tidemark
from tidemark.saved_model._functions import encode_trace


class OwnFile:
    """Collects the parts of a model. Raises where a function needs Python to run."""

    def __init__(self, parts, aliases):
        self._writer = _tidemark.ModelWriter()
        self._graphs, self._held = {}, []  # id of a graph → number of its function
        objects = [
            self._object(data, value)
            for data, value in zip(parts.objects, parts.values, strict=True)
        ]
        objects[0]["aliases"] = aliases
        for key, trace, inputs, outputs in parts.signatures:
            self._writer.add_signature(key, self._number(trace), inputs, outputs)
        self._writer.set_objects(json.dumps(objects).encode())

    def _number(self, trace):
        known = self._graphs.get(id(trace.graph))
        if known is None:
            known = int(self._writer.add_function(trace.name, trace.graph))
            self._graphs[id(trace.graph)] = known
            self._held.append(trace.graph)
        return known

    def _object(self, data, value):
        kind = data["kind"]
        if kind == "variable":
            return {"kind": kind, "number": int(self._writer.add_variable(value))}
        if kind == "asset":  # this file has no others beside it
            path = value.asset_path
            return {"kind": "constant", "number": int(self._writer.add_constant(path))}
        if kind == "constant":
            return {"kind": kind, "number": int(self._writer.add_constant(value))}
        if kind == "table":
            number = int(self._writer.add_table(value._table.number))
            return {**data, "number": number}
        if "traces" in data:
            traces = [[self._number(trace), encode_trace(trace)] for trace in data["traces"]]
            return {**data, "traces": traces}
        return data

    def write(self, folder):
        self._writer.write(folder)


__all__ = ["OwnFile"]
