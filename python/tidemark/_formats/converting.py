"""What ``tidemark convert`` does: one table of readers, one of writers.

A reader makes a ``Loaded`` of a path; a writer puts one at another. What is not a model is weights:
tensors by name.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark import _tidemark, nest, onnx, saved_model, weights
from tidemark._functions.function import function as traced_function
from tidemark._tensor.specs import TensorSpec
from tidemark._tensorflow.install import install_as_tensorflow
from tidemark._trackable.module import Module
from tidemark.dtypes import as_dtype
from tidemark.errors import InvalidArgumentError, OpError, UnimplementedError
from tidemark.onnx._model import Model


@dataclass
class Signature:
    """A function of tensors that returns a dict by name, and what it takes."""

    call: Callable
    specs: list


@dataclass
class Loaded:
    """A model's signatures by name, and the object that keeps what they use."""

    signatures: dict[str, Signature]
    owner: Any = None


# --- Readers of models, by the name that ``inspect`` has for the format ---


def _read_graph(path, shapes):
    model = Model(path)
    specs = []
    for port in model.inputs:
        sizes = shapes.get(port.name)
        if sizes is None and port.shape is not None:
            sizes = [size if isinstance(size, int) else None for size in port.shape]
        specs.append(TensorSpec(sizes, port.dtype, name=port.name))

    def call(*inputs):
        return model(dict(zip((spec.name for spec in specs), inputs, strict=True)))

    return Loaded({"serving_default": Signature(call, specs)}, model)


def _in_order(function, names):
    """The function that is called by names, called with the inputs in this order."""
    return lambda *inputs: function(**dict(zip(names, inputs, strict=True)))


def _read_saved(path, shapes):
    loaded = saved_model.load(path)
    signatures = {}
    for name, function in loaded.signatures.items():
        _, named = function.structured_input_signature
        specs = [
            TensorSpec(shapes.get(key, spec.shape), spec.dtype, name=key)
            for key, spec in named.items()
        ]
        signatures[name] = Signature(_in_order(function, [spec.name for spec in specs]), specs)
    return Loaded(signatures, loaded)


def _read_keras(path, shapes):
    """A model as Keras makes it of its description; only layers of Keras's own are made."""
    install_as_tensorflow()
    import keras  # over Tidemark, which is in TensorFlow's place only now

    model = keras.saving.load_model(path, compile=False)
    specs = [
        TensorSpec(shapes.get(given.name, [None, *given.shape[1:]]), given.dtype, name=given.name)
        for given in model.inputs
    ]
    several = len(specs) > 1

    def call(*inputs):
        made = model(list(inputs) if several else inputs[0], training=False)
        if isinstance(made, dict):
            return made
        return {f"output_{at}": value for at, value in enumerate(nest.flatten(made))}

    return Loaded({"serving_default": Signature(call, specs)}, model)


MODEL_READERS = {
    "ONNX": _read_graph,
    "TFLite": _read_graph,
    "SavedModel": _read_saved,
    "Tidemark": _read_saved,
    "Keras": _read_keras,
}


# --- Writers of models ---


def _chosen(loaded, key):
    if not key:
        key = "serving_default" if "serving_default" in loaded.signatures else None
        key = key or next(iter(loaded.signatures), None)
    if key not in loaded.signatures:
        known = ", ".join(loaded.signatures) or "none"
        raise InvalidArgumentError(None, None, f"There is no signature {key!r}; there are: {known}")
    return loaded.signatures[key]


def _write_onnx(loaded, path, key):
    signature = _chosen(loaded, key)
    names = []

    def in_order(*inputs):
        made = signature.call(*inputs)
        names[:] = list(made)
        return tuple(made.values())

    traced = traced_function(in_order, input_signature=signature.specs)
    traced.get_concrete_function()  # tells the names
    onnx.save(traced, path, signature=signature.specs, output_names=list(names))


def _write_saved(loaded, path, key):
    module = Module()
    module.kept = loaded.owner
    wanted = {key: loaded.signatures[key]} if key else loaded.signatures
    signatures = {
        name: traced_function(signature.call, input_signature=signature.specs)
        for name, signature in wanted.items()
    }
    saved_model.save(module, path, signatures=signatures)


MODEL_WRITERS = {"onnx": _write_onnx, "saved": _write_saved}


# --- Writers of weights ---


def _write_tensors(tensors, path):
    weights.save(tensors, path)


def _write_checkpoint(tensors, path):
    bundle = _tidemark.BundleWriter(os.fspath(path).removesuffix(".index"))
    for name in tensors:
        bundle.add(name, tensors[name])  # its bytes go to the file at once
    bundle.finish()


WEIGHT_WRITERS = {
    "safetensors": _write_tensors,
    "npz": _write_tensors,
    "checkpoint": _write_checkpoint,
}

_BY_SUFFIX = {
    ".onnx": "onnx",
    ".safetensors": "safetensors",
    ".npz": "npz",
    ".index": "checkpoint",
    ".ckpt": "checkpoint",
    "": "saved",
}
_NOT_WRITTEN = {
    ".tflite": "TFLite models",
    ".pt": "PyTorch's files",
    ".pth": "PyTorch's files",
    ".h5": "HDF5 files, but by Keras itself",
    ".keras": "Keras's files, but by Keras itself",
}


def _format_of(path, asked):
    known = [*MODEL_WRITERS, *WEIGHT_WRITERS]
    suffix = Path(path).suffix
    if not asked and suffix in _NOT_WRITTEN:
        raise UnimplementedError(None, None, f"{_NOT_WRITTEN[suffix]} are not written.")
    asked = asked or _BY_SUFFIX.get(suffix, "")
    if asked not in known:
        raise InvalidArgumentError(
            None,
            None,
            f"The format of {path} is not known; --to takes one of {', '.join(known)}.",
        )
    return asked


def _source_format(path):
    seen = _tidemark.inspect_file(os.fspath(path))
    if seen["not_read"]:
        listed = "\n  ".join(seen["not_read"])
        raise UnimplementedError(None, None, f"{path} has what is not supported:\n  {listed}")
    return seen["format"]


def planned_bytes(path, signature, sizes):
    """Bytes of a Keras model's weights, and those that a call of these sizes takes beside them."""
    loaded = _read_keras(path, sizes)
    one = _chosen(loaded, signature)
    held = sum(math.prod(w.shape) * as_dtype(w.dtype).size for w in loaded.owner.weights)
    return held, traced_function(one.call).plan(*one.specs).arena


def convert(source, target, asked="", signature="", shapes=None):
    """Writes at ``target`` what is at ``source``; says what was done. ``shapes``: sizes of inputs
    by name, for models whose graph depends on them."""
    kind, wanted = _source_format(source), _format_of(target, asked)
    if wanted in WEIGHT_WRITERS:
        with weights.open(source) as file:
            count = len(file)
            WEIGHT_WRITERS[wanted](file, target)
        return f"{source} ({kind}) -> {target} ({wanted}): {count} tensors"
    if kind not in MODEL_READERS:
        raise InvalidArgumentError(
            None,
            None,
            f"{source} holds weights alone ({kind}); a model needs to say what it computes.",
        )
    loaded = MODEL_READERS[kind](os.fspath(source), shapes or {})
    try:
        MODEL_WRITERS[wanted](loaded, target, signature)
    except OpError as error:
        open_inputs = [
            spec.name
            for one in loaded.signatures.values()
            for spec in one.specs
            if not spec.shape.is_fully_defined()
        ]
        if "must be known" not in error.message or not open_inputs:
            raise
        raise InvalidArgumentError(
            None,
            None,
            f"{error.message}: its graph depends on sizes that {source} leaves open. Give them for "
            f"{', '.join(open_inputs)}, as in --shape {open_inputs[0]}=1,3,224,224",
        ) from None
    ports = ", ".join(loaded.signatures)
    return f"{source} ({kind}) -> {target} ({wanted}): signatures {ports}"
