"""Functions of the user's as graphs over elements; what elements are made of."""

from __future__ import annotations

import numpy as np

import tidemark as tf
from tidemark import _tidemark, nest
from tidemark._graph.tracing import building, lifted
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.specs import CompositeTensor, TensorSpec, TypeSpec, type_spec_from_value
from tidemark._tidemark import Tensor
from tidemark.data._elements import NoneTensorSpec, flat_specs, pack
from tidemark.errors import InvalidArgumentError
from tidemark.tensor_shape import TensorShape, sizes_of


def is_dataset(value):
    """Whether it is a dataset."""
    return getattr(value, "_is_dataset", False)


def tensors_of(element):
    """Any structure of values as a structure of tensors; a Python list becomes one tensor."""
    kind = type(element).__name__
    if kind == "SparseTensorValue":  # of TensorFlow 1, as the next
        return tf.SparseTensor(*element)
    if kind == "RaggedTensorValue":
        return tf.RaggedTensor.from_row_splits(tensors_of(element.values), element.row_splits)
    if hasattr(element, "__tf_flatten__"):
        return nest._like(element, [tensors_of(part) for part in nest._children(element)])
    if isinstance(element, tuple) and hasattr(element, "_fields"):
        return type(element)(*(tensors_of(part) for part in element))
    if isinstance(element, tuple):
        return tuple(tensors_of(part) for part in element)
    if isinstance(element, dict):
        return type(element)((key, tensors_of(value)) for key, value in element.items())
    if isinstance(element, Tensor) and _tidemark.is_symbolic(element):
        known = _tidemark.static_value(element)
        return element if known is None else known
    if element is None or isinstance(element, (CompositeTensor, Tensor)) or is_dataset(element):
        return element
    if any(_changes(leaf) for leaf in nest.flatten(element)):
        return convert_to_tensor(element)
    with lifted():  # a constant, though a function may be traced around it
        return convert_to_tensor(element)


def next_state(state, value):
    """What a function made of a state, as tensors; raises unless it is as many as before."""
    after = tensors_of(value)
    if len(flat(after)) != len(flat(state)):
        raise InvalidArgumentError(
            None, None,
            f"the function must return a state as it was given one: {len(flat(state))} tensors; "
            f"it returned {len(flat(after))}",
        )  # fmt: skip
    return after


def _changes(leaf):
    """Whether what a leaf stands for is known when a graph runs, as a variable's value is."""
    is_variable = isinstance(leaf, _tidemark.VariableBase)
    return is_variable or getattr(leaf, "is_graph_variable", False) or _tidemark.is_symbolic(leaf)


def spec_of(value):
    """The spec of one leaf."""
    if isinstance(value, TypeSpec):
        return value
    if value is None:
        return NoneTensorSpec()
    if is_dataset(value):
        from tidemark.data._dataset import DatasetSpec  # it imports this module

        return DatasetSpec(value.element_spec)
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    return type_spec_from_value(value)


def flat(structure):
    """The tensors of an element."""
    out = []
    for leaf in nest.flatten(structure):
        if isinstance(leaf, CompositeTensor):
            out.extend(flat(leaf._type_spec._to_components(leaf)))
        elif is_dataset(leaf):
            out.append(leaf._handle.as_tensor())
        elif leaf is not None:
            out.append(leaf)
    return out


class Traced:
    """A function as a graph over the tensors of elements, one for each of the specs."""

    def __init__(self, function, specs, what, spreads=True):
        from tidemark.autograph import _impl  # only tracing needs it

        with building(what) as builder:
            arguments = []
            for spec in specs:
                inputs = [builder.add_input(s.dtype, sizes_of(s.shape)) for s in flat_specs(spec)]
                arguments.append(pack(spec, inputs))
            converted = _impl.converted(function)
            if spreads and len(arguments) == 1 and is_spread(arguments[0]):
                arguments = arguments[0]
            result = converted(*arguments)
            if isinstance(result, list):
                result = tuple(result) if not _is_numeric_list(result) else result
            self.result = result = _checked_result(result, what)
            self.spec = nest.map_structure(spec_of, result)
            outputs = [builder.own(convert_to_tensor(t)) for t in flat(result)]
        self.graph, self.captures = builder.finish(outputs), builder.captures

    def state_outside(self):
        """The name of the first operation that draws from a state, or reads or changes a variable:
        nothing that an iterator could save. None if there is none."""
        nodes = (node for node, _ in self.graph.handle.nodes())
        return next((n.kind for n in nodes if not n.is_pure and n.kind != "py_function"), None)

    @property
    def gives_dataset(self):
        return is_dataset(self.result)


def _checked_result(result, what):
    """What a function returned, as tensors."""
    for leaf in nest.flatten(result):
        if isinstance(leaf, type) or callable(leaf) and not hasattr(leaf, "shape"):
            raise TypeError(
                f"Unsupported return value from function passed to Dataset.{what}(): {leaf!r}. "
                "Functions of datasets return tensors, or nested structures of tensors."
            )
    return tensors_of(result)


def _is_numeric_list(value):
    leaves = nest.flatten(value)
    return not any(isinstance(x, (Tensor, CompositeTensor)) or is_dataset(x) for x in leaves)


def is_spread(element):
    """Whether a function gets its parts as arguments."""
    return isinstance(element, tuple) and not hasattr(element, "_fields")


def with_rows(size, shape):
    """A shape with one more dimension in front."""
    return TensorShape(None) if shape.rank is None else TensorShape([size, *shape.as_list()])


def number_of(value, what="count"):
    """An integer, or a tensor whose value only a run tells."""
    if isinstance(value, Tensor):
        known = _tidemark.static_value(value)
        if known is None:
            return convert_to_tensor(value)
        value = known.numpy()
        if getattr(value, "ndim", 0) == 0 and np.issubdtype(np.asarray(value).dtype, np.integer):
            return int(value)
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{what} must be an integer, got {value!r}")
    return int(value)


def known_number(value):
    """The number for a shape; None where only a run tells it."""
    return None if isinstance(value, Tensor) else value


def seeds_of(seed):
    """The two seeds that TensorFlow makes of the program's seed and an operation's."""
    from tidemark.random import _state  # loaded on first use

    if isinstance(seed, Tensor):
        seed = number_of(seed, "seed")
    first, second = _state.seeds_for_operation(None if seed is None else int(seed))
    if first is None:
        return tuple(_state.fresh_seed())
    return first, second
