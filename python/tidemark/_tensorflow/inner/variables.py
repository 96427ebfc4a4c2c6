"""What packages ask of ``tensorflow.python.ops`` about variables beyond public names."""

from __future__ import annotations

import contextlib

import tidemark
from tidemark import _tidemark, nest
from tidemark._tensor.specs import VariableSpec
from tidemark._v1.partitioned import PartitionedVariable

Variable = BaseResourceVariable = ResourceVariable = tidemark.Variable
VariableV1 = tidemark.Variable


def is_resource_variable(var):
    """Whether a value is a variable."""
    return isinstance(var, (_tidemark.VariableBase, Variable))


def variable_accessed(variable):
    """A tape notes that a variable was used."""
    if variable.trainable:
        variable.read_value()


def convert_variables_to_tensors(values):
    """The structure with the value of each variable in its place."""
    return nest.map_structure(
        lambda v: tidemark.convert_to_tensor(v) if isinstance(v, _tidemark.VariableBase) else v,
        values,
    )


def replace_variables_with_atoms(values):
    """The structure with a number in place of each variable."""
    return nest.map_structure(lambda v: 0 if isinstance(v, _tidemark.VariableBase) else v, values)


def _get_default_variable_store():
    """The store that ``get_variable`` uses here."""
    from tidemark._v1.variable_scopes import default_variable_store  # only TensorFlow 1 needs it

    return default_variable_store()


@contextlib.contextmanager
def with_variable_store(store):
    """A context in which ``get_variable`` uses a store."""
    from tidemark._v1.variable_scopes import exchange_variable_store  # only TensorFlow 1 needs it

    before = exchange_variable_store(store)
    try:
        yield
    finally:
        exchange_variable_store(before)


def variable(initial_value=None, trainable=None, **kwargs):
    return tidemark.Variable(initial_value, trainable=trainable, name=kwargs.get("name"),
                             dtype=kwargs.get("dtype"))  # fmt: skip


__all__ = ["PartitionedVariable", "VariableSpec"]
