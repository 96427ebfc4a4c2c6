"""Reading ONNX models; ``src/tidemark/io/onnx/`` does the work."""

import os
from typing import Any, NamedTuple

from tidemark import _tidemark
from tidemark._tensor.variable import Variable
from tidemark.dtypes import as_dtype


class Port(NamedTuple):
    """One input or output of a model.

    ``element_type`` is ONNX's name; ``dtype`` is what holds the elements here: bytes for types of
    fewer bits than we have dtypes for. ``shape`` is None where nothing is known; in it, a name or
    None stands for a size that is not fixed.
    """

    name: str
    kind: str  # "tensor", "sequence" or "optional"
    element_type: str
    dtype: Any
    shape: tuple | None
    optional: bool


def _port(name, kind_and_type, has_default):
    kind, element_type, storage, shape = kind_and_type
    dtype = None if element_type == "undefined" else as_dtype(storage)
    return Port(
        name, kind, element_type, dtype, None if shape is None else tuple(shape), has_default
    )


class Model:
    """An ONNX or TFLite model; call it with arrays by name to get a dict of outputs."""

    def __init__(self, path, trainable=False, signature="", keeps_states=False):
        self._model = _tidemark.OnnxModel(os.fspath(path), bool(trainable), signature, keeps_states)
        ports = [_port(*port) for port in self._model.inputs]
        self._ports = tuple(ports)
        self._names = {port.name: place for place, port in enumerate(ports)}
        self.inputs = tuple(port for port in ports if not port.optional)
        self.outputs = tuple(_port(*port) for port in self._model.outputs)
        self.trainable_variables = self._make_variables() if trainable else []

    def _make_variables(self):
        made = [Variable(value, name=name) for name, value in self._model.variables]
        self._model.bind(made)
        return made

    def _arguments(self, inputs, named):
        given = {**(inputs or {}), **named}
        values = [None] * len(self._ports)
        for name, value in given.items():
            if name not in self._names:
                known = ", ".join(port.name for port in self.inputs)
                raise ValueError(f"The model has no input '{name}'. Its inputs are: {known}")
            values[self._names[name]] = value
        return values

    def __call__(self, inputs=None, /, **named):
        """The outputs by name, given the inputs by name: as a dict, as keywords, or both."""
        results = self._model.run(self._arguments(inputs, named))
        return {port.name: value for port, value in zip(self.outputs, results, strict=True)}

    def run_in_order(self, inputs):
        """The outputs in their order, given all inputs in theirs."""
        return self._model.run(list(inputs))

    def plan(self, inputs=None, /, **named):
        """What a call with such inputs will need, in words; nothing is run."""
        return self._model.plan_text(self._arguments(inputs, named))

    @property
    def traces(self):
        """What the model was traced for: signature, reason, bytes and calls of each trace."""
        return self._model.traces

    @property
    def road(self):
        """How calls are run: "traced", "traced by value" or "node by node"."""
        return self._model.road

    @property
    def weight_bytes(self):
        return self._model.weight_bytes

    def __repr__(self):
        def text(ports):
            return ", ".join(
                f"{port.name}: {port.element_type}{port.shape or ''}" for port in ports
            )

        return (
            f"<tidemark {self._model.format} model ({text(self.inputs)}) -> ({text(self.outputs)})>"
        )


def load(path, trainable=False):
    """Reads an ONNX model.

    With ``trainable``, the floating-point weights of its graph become ``trainable_variables``.

    Raises ``UnimplementedError`` with everything in it that is not read, before any tensor is made,
    and ``DataLossError`` for a damaged file.
    """
    return Model(path, trainable)


def readable_ops():
    """The ops that are read, as (domain, name)."""
    return _tidemark.onnx_ops()
