"""TensorFlow's interpreter of TFLite models, over a model that is traced and planned."""

import os
import tempfile
from pathlib import Path

import numpy as np

from tidemark import _tidemark
from tidemark.lite._model import load


class SignatureRunner:
    """Calls one signature by names; made by ``Interpreter.get_signature_runner``."""

    def __init__(self, interpreter, key):
        self._interpreter = interpreter
        self._key = key
        self._model = interpreter._model_of(key)
        self._signature = interpreter._file.signatures[key]

    def __call__(self, **inputs):
        names = self._signature["inputs"]
        if set(inputs) != set(names):
            given = ", ".join(inputs) or "nothing"
            raise ValueError(f"The signature takes {', '.join(names)}; {given} was given.")
        order = [port.name for port in self._model.inputs][: len(inputs)]
        results = self._interpreter._run(self._key, [inputs[name] for name in order])
        names = [port.name for port in self._model.outputs]
        return {name: np.array(value) for name, value in zip(names, results, strict=False)}

    def get_input_details(self):
        """What the signature takes, by name."""
        return self._details("inputs")

    def get_output_details(self):
        """What the signature gives, by name."""
        return self._details("outputs")

    def _details(self, side):
        tensors = self._interpreter._file.tensors(self._signature["graph"])
        return {name: _detail(tensors[at]) for name, at in self._signature[side].items()}


def _detail(tensor):
    """A tensor as TensorFlow's interpreter describes it."""
    scales, zeros, axis = tensor["quantization"]
    single = (scales[0], zeros[0]) if len(scales) == 1 else (0.0, 0)
    return {
        "name": tensor["name"],
        "index": tensor["index"],
        "shape": np.array(tensor["shape"], np.int32),
        "shape_signature": np.array(tensor["signature"], np.int32),
        "dtype": np.bytes_ if tensor["dtype"] == "string" else np.dtype(tensor["dtype"]).type,
        "quantization": single,
        "quantization_parameters": {
            "scales": np.array(scales, np.float32),
            "zero_points": np.array(zeros, np.int32),
            "quantized_dimension": axis,
        },
        "sparsity_parameters": {},
    }


class Interpreter:
    """Runs a TFLite model, with the methods of ``tf.lite.Interpreter`` of TensorFlow.

    The model is an ordinary traced function: planned for the sizes of its inputs and bounded by
    memory limits. Threads are the process's, so ``num_threads`` is not looked at; delegates, custom
    operators and tensors between operators are refused.
    """

    def __init__(
        self,
        model_path=None,
        model_content=None,
        experimental_delegates=None,
        num_threads=None,
        experimental_op_resolver_type=None,
        experimental_preserve_all_tensors=False,
        experimental_disable_delegate_clustering=False,
        experimental_default_delegate_latest_features=False,
    ):
        if (model_path is None) == (model_content is None):
            raise ValueError("`model_path` or `model_content` must be given, and not both.")
        if experimental_delegates:
            raise ValueError("Delegates are not part of Tidemark.")
        self._folder = None
        if model_content is not None:
            self._folder = tempfile.TemporaryDirectory()  # as long as this lives
            model_path = Path(self._folder.name) / "model.tflite"
            model_path.write_bytes(model_content)
        self._path = os.fspath(model_path)
        self._file = _tidemark.TfliteFile(self._path)
        self._models = {}
        self._states = {}  # by the number of a graph: what outlives its calls
        self._tensors = self._file.tensors(0)
        self._inputs, self._outputs = self._file.ports(0)
        self._shapes = {at: tuple(self._tensors[at]["shape"]) for at in self._inputs}
        self._values = {}
        self._results = None
        self._is_allocated = False
        self._model_of(None)

    def _model_of(self, key):
        if key not in self._models:
            signature = "" if key is None else key
            self._models[key] = load(self._path, signature, _keeps_states=True)
        return self._models[key]

    def _run(self, key, values):
        """The outputs; states stand behind the inputs and behind the outputs."""
        model = self._model_of(key)
        begun = [np.zeros(port.shape, np.float32) for port in model.inputs[len(values) :]]
        graph = 0 if key is None else self._file.signatures[key]["graph"]
        results = model.run_in_order([*values, *self._states.get(graph, begun)])
        count = len(results) - len(begun)
        self._states[graph] = results[count:]
        return results[:count]

    # --- Signatures ---

    def get_signature_list(self):
        """The signatures: {key: {"inputs": names, "outputs": names}}."""
        return {
            key: {"inputs": sorted(one["inputs"]), "outputs": sorted(one["outputs"])}
            for key, one in self._file.signatures.items()
        }

    def get_signature_runner(self, signature_key=None):
        """Something to call with the inputs of a signature by name."""
        keys = list(self._file.signatures)
        if signature_key is None:
            if len(keys) != 1:
                raise ValueError(
                    f"SignatureDef signature_key is None and model has {len(keys)} Signatures. "
                    f"None is only allowed when the model has 1 SignatureDef: {', '.join(keys)}"
                )
            signature_key = keys[0]
        if signature_key not in keys:
            raise ValueError(f"Invalid signature_key provided: '{signature_key}'; there are {keys}")
        return SignatureRunner(self, signature_key)

    # --- Tensors by number ---

    def get_input_details(self):
        """What the first graph takes."""
        return [self._described(at) for at in self._inputs]

    def get_output_details(self):
        """What the first graph gives."""
        return [self._described(at) for at in self._outputs]

    def get_tensor_details(self):
        """All tensors of the first graph."""
        return [self._described(at) for at in range(len(self._tensors))]

    def _described(self, at):
        detail = _detail(self._tensors[at])
        if at in self._shapes:
            detail["shape"] = np.array(self._shapes[at], np.int32)
        elif self._results is not None and at in self._results:
            detail["shape"] = np.array(self._results[at].shape, np.int32)
        return detail

    def resize_tensor_input(self, input_index, tensor_size, strict=False):
        """Other sizes for an input; ``strict``: only where the file leaves them open."""
        self._check_input(input_index)
        sizes = tuple(int(size) for size in tensor_size)
        declared = self._tensors[input_index]["signature"]
        fits = len(sizes) == len(declared) and all(
            wanted in (-1, size) for wanted, size in zip(declared, sizes, strict=True)
        )
        if not fits:
            raise ValueError(
                f"The input {input_index} can be resized where its shape is open: "
                f"{list(declared)}; {list(sizes)} was asked for."
            )
        self._shapes[input_index] = sizes
        self._values.pop(input_index, None)
        self._is_allocated, self._results = False, None

    def allocate_tensors(self):
        """Makes room for the inputs."""
        for at in self._inputs:
            if at not in self._values:
                self._values[at] = self._zeros(at)
        self.reset_all_variables()
        self._is_allocated = True

    def _zeros(self, at):
        dtype = self._tensors[at]["dtype"]
        return np.zeros(self._shapes[at], object if dtype == "string" else dtype)

    def set_tensor(self, tensor_index, value):
        """Gives an input its value."""
        self._check_input(tensor_index)
        self._check_allocated()
        value = np.asarray(value)
        dtype = self._tensors[tensor_index]["dtype"]
        if dtype != "string" and value.dtype != dtype:
            raise ValueError(
                f"Cannot set tensor: Got value of type {value.dtype} but expected type {dtype} for "
                f"input {tensor_index}, name: {self._tensors[tensor_index]['name']}"
            )
        if value.shape != self._shapes[tensor_index]:
            raise ValueError(
                f"Cannot set tensor: Dimension mismatch. Got {value.shape} but expected "
                f"{self._shapes[tensor_index]} for input {tensor_index}."
            )
        self._values[tensor_index] = np.array(value)

    def invoke(self):
        """Computes the outputs from the inputs."""
        self._check_allocated()
        results = self._run(None, [self._values[at] for at in self._inputs])
        self._results = dict(zip(self._outputs, results, strict=True))

    def get_tensor(self, tensor_index, subgraph_index=0):
        """A copy of an input's or an output's value."""
        if subgraph_index:
            raise ValueError("Tensors of inner graphs are not kept.")
        if self._results is not None and tensor_index in self._results:
            return np.array(self._results[tensor_index])
        if tensor_index in self._values:
            return np.array(self._values[tensor_index])
        if tensor_index in self._outputs:
            raise ValueError("The outputs have no values yet: call invoke() first.")
        raise ValueError(
            f"The tensor {tensor_index} is no input and no output; others are not kept."
        )

    def tensor(self, tensor_index):
        """A function that gives the tensor's value."""
        return lambda: self.get_tensor(tensor_index)

    def reset_all_variables(self):
        """What outlives a call begins at zero again."""
        self._states.clear()

    def _check_input(self, at):
        if at not in self._inputs:
            raise ValueError(f"The tensor {at} is no input; inputs are {list(self._inputs)}.")

    def _check_allocated(self):
        if not self._is_allocated:
            raise RuntimeError("Call allocate_tensors() first, and again after resizing an input.")
