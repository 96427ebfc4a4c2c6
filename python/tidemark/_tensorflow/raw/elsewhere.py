"""Operations that TensorFlow's own CPU build refuses when they are called: refused here just so.

Where there is a GPU, those that a program for one calls are computed.
"""

from __future__ import annotations

import functools
import pathlib
import re

import tidemark as tf
from tidemark._tensorflow.raw import recurrent
from tidemark._v1.graph_def import op_defs, raw_calls

_TABLE = pathlib.Path(__file__).with_suffix(".tsv")
_GRAPHS = 2474  # the version of graphs that TensorFlow 2.21 writes


@functools.cache
def _lines():
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {name: (kind, told) for name, kind, told in rows}


def names():
    """The operations without a kernel on a CPU, or that are gone."""
    return [name for name, (kind, _) in _lines().items() if kind != "ref"]


def _snake(name):
    parted = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", parted).lower()


def _error(name):
    kind, told = _lines()[name]
    if kind == "kernel":
        return tf.errors.NotFoundError(
            None, None,
            f"Could not find device for node: {name}. All kernels registered for op {name}: "
            f"<no registered kernels> [Op:{name}]",
        )  # fmt: skip
    version, _, instead = told.partition(" ")
    return tf.errors.UnimplementedError(
        None, None,
        f"Op {name} is not available in GraphDef version {_GRAPHS}. It has been removed in version "
        f"{version}. {instead}. [Op:{name}]",
    )  # fmt: skip


def function(name):
    """What raises as TensorFlow does; None for an operation that it has a kernel for."""
    if _lines().get(name, ("ref",))[0] == "ref":
        return None

    def refuse(**given):
        if name in recurrent.ON_GPUS and tf.config.list_physical_devices("GPU"):
            return recurrent.ON_GPUS[name](**given)
        error = _error(name)
        if tf.executing_eagerly() or not isinstance(error, tf.errors.NotFoundError):
            raise error
        return _refused_when_run(name, given, error)

    return raw_calls.keyword_function(name, refuse)


def _refused_when_run(name, given, error):
    """What the operation would give: a graph may hold it for another device, and never run it."""
    definition = op_defs.find(name)
    if any(a.number or a.is_list for a in (*definition.inputs, *definition.outputs)):
        raise error
    kinds = {a.kind: tf.convert_to_tensor(given[a.name]).dtype for a in definition.inputs}
    kinds.update((own, given[own]) for own in definition.attrs if own in given)

    def refuse():
        raise error

    wanted = [tf.as_dtype(kinds.get(output.kind, output.kind)) for output in definition.outputs]
    return tf.numpy_function(refuse, [], wanted, stateful=False)


def only_in_graphs(name, function):
    """The function of an operation on references, which refuses eager calls as TensorFlow does."""
    kind, argument = _lines().get(name, ("", ""))
    if kind != "ref":
        return function

    @functools.wraps(function)
    def in_graphs(**given):
        if tf.executing_eagerly():
            raise RuntimeError(
                f"{_snake(name)} op does not support eager execution. Arg '{argument}' is a ref."
            )
        return function(**given)

    return in_graphs
