"""Traced graphs as functions of a library, which take the variables and tables that they use."""

from __future__ import annotations

from tidemark._v1.graph_def.functions import Body, handle_dtype, resource_uses


class WrittenFunction:
    """A function of the library. ``resources``: what it takes behind its own inputs."""

    def __init__(self, name, inputs, outputs, resources, is_stateful):
        self.name, self.inputs, self.outputs = name, inputs, outputs
        self.resources, self.is_stateful = resources, is_stateful


def write_function(writer, name, graph):
    """A traced graph as a function of the writer's library."""
    uses = resource_uses([graph], writer.library.assets)
    types = [tensor.dtype for tensor in graph.inputs]
    body = Body(writer, name, types, list(uses))
    outputs = body.write(graph, range(len(types)))
    made = [tensor.dtype for tensor in outputs]
    body.finish(body.writer.write_results(outputs), made)
    stateful = body.function.signature.is_stateful
    return WrittenFunction(body.name, types, made, list(uses), stateful)


class PlainBody:
    """A function made of a few nodes by hand: they are added, then it is finished."""

    def __init__(self, writer, name, types, resources=()):
        self._body = Body(writer, name, types, list(resources))
        self._resources = list(resources)
        self._num_inputs = len(types)
        self.add, self.constant = self._body.writer.add, self._body.writer.constant
        self.arguments = self._body.arguments

    def finish(self, results, types, awaited=()):
        """``awaited``: nodes that run whoever asks, and before there are results."""
        writer = self._body.writer
        before = [writer.add("NoOp", "NoOp", control=list(awaited))] if awaited else []
        names = []
        for result, dtype in zip(results, types, strict=True):
            label = writer.fresh("Identity")
            names.append(writer.add(label, "Identity", [result], None, [dtype], before))
        self._body.finish(names, types)
        function = self._body.function
        for name in awaited:
            function.control_ret.add(key=name, value=name)
            function.signature.control_output.append(name)
        function.signature.is_stateful = bool(awaited)
        given = self._body.types[: self._num_inputs]
        return WrittenFunction(self._body.name, given, types, self._resources, bool(awaited))


def call_of(writer, function, label, inputs):
    """Adds a node that calls a function of the library."""
    op = "StatefulPartitionedCall" if function.is_stateful else "PartitionedCall"
    types = [*function.inputs, *map(handle_dtype, function.resources)]
    writer.add(label, op, inputs, {"Tin": types, "Tout": function.outputs, "f": function.name})
    return label


def write_signature(writer, key, function, inputs, outputs):
    """A function that takes and gives what another one does, in the order of names."""
    order = sorted(range(len(inputs)), key=inputs.__getitem__)
    types = [function.inputs[at] for at in order]
    body = PlainBody(writer, f"__inference_signature_wrapper_{key}", types, function.resources)
    given = dict(zip(order, body.arguments, strict=False))
    handles = body.arguments[len(inputs) :]
    call = call_of(
        body, function, "PartitionedCall", [*(given[at] for at in sorted(given)), *handles]
    )
    order = sorted(range(len(outputs)), key=outputs.__getitem__)
    results = [f"{call}:{at}" if at else call for at in order]
    awaited = [call] if function.is_stateful else []
    return body.finish(results, [function.outputs[at] for at in order], awaited)


__all__ = ["PlainBody", "WrittenFunction", "call_of", "write_function", "write_signature"]
