"""Writing functions and Keras models as ONNX; ``src/tidemark/io/onnx/writer.h`` does the work."""

import os

from tidemark import _tidemark, nest
from tidemark._functions.concrete import ConcreteFunction
from tidemark._functions.function import function as traced_function
from tidemark._tensor.specs import TensorSpec
from tidemark.saved_model import _functions as _names


def _specs_of_model(model):
    """What a Keras model takes, one spec an input, any batch."""
    return [
        TensorSpec([None, *given.shape[1:]], given.dtype, name=given.name) for given in model.inputs
    ]


def _concrete(function, signature):
    """The function for these specs, and names for its inputs."""
    if hasattr(function, "inputs") and hasattr(function, "layers"):  # a model of Keras
        model, specs = function, signature or _specs_of_model(function)
        several = len(specs) > 1
        traced = traced_function(
            lambda *given: model(list(given) if several else given[0], training=False)
        )
        return traced.get_concrete_function(*specs), [spec.name for spec in specs]
    if isinstance(function, ConcreteFunction):
        concrete, specs = function, []
    else:
        traced = function
        if not hasattr(function, "get_concrete_function"):
            traced = traced_function(function)
        specs = list(signature or ())
        concrete = traced.get_concrete_function(*specs)
    return concrete, [getattr(spec, "name", None) for spec in nest.flatten(specs)]


def save(function, path, signature=None, opset=18, output_names=None, weights_beside=False):
    """Writes a function, or a model of Keras, as an ONNX model.

    ``signature``: the ``tf.TensorSpec`` of each argument, where the function has no signature of
    its own; their names become the names of the inputs. Variables are written with the values that
    they have now: in the file, or in ``PATH.data`` beside it where that is asked for or where the
    file would be larger than the 2 GB that the format holds. Raises ``UnimplementedError`` with
    every op that has no form in ONNX, before a file is made.
    """
    concrete, names = _concrete(function, signature)
    trace = concrete._trace
    if trace.captures:
        raise ValueError("A function that uses tensors of a graph around it cannot be written.")
    known = _names.input_names(trace, concrete._signature)
    inputs = [name or other for name, other in zip(names or known, known, strict=True)]
    outputs = list(output_names or _names.output_names(trace))
    _tidemark.write_onnx(
        trace.graph, inputs, outputs, int(opset), os.fspath(path), bool(weights_beside)
    )
