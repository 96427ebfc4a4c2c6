"""Records fused LSTMs, whose state outlives a call, and what TFLite's interpreter makes of two
calls in a row, in tflite_states.json: run with TensorFlow 2.21.

    python tests/python/data/record_tflite_states.py

Models are put together from the format's tables, since today's converter makes loops instead.
"""

import base64
import json
import os
import zlib
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import flatbuffers
import numpy as np
import tensorflow as tf
from record_tflite import array, interpreter_of
from tensorflow.lite.python import schema_py_generated as schema

random = np.random.default_rng(11)
TYPES = {"float32": schema.TensorType.FLOAT32, "int8": schema.TensorType.INT8}

CASES = {
    "plain": {},
    "time_first": {"time_major": True},
    "relu_and_clip": {"activation": "RELU", "cell_clip": 0.3},
    "coupled": {"coupled": True},
    "peepholes": {"peepholes": True},
    "coupled_peepholes": {"coupled": True, "peepholes": True},
    "projection": {"projection": 3},
    "projection_clip": {"projection": 3, "bias": True, "projection_clip": 0.05},
    "normalised": {"normalised": True},
    "normalised_projection_peepholes": {"normalised": True, "projection": 3, "peepholes": True},
    "int8_weights": {"int8": True},
    "int8_weights_asymmetric": {"int8": True, "asymmetric": True},
    "int8_weights_projection": {"int8": True, "projection": 3, "coupled": True},
}


class Builder:
    """Tables of one graph with one operator."""

    def __init__(self):
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.buffers = [schema.BufferT()]
        self.graph = schema.SubGraphT()
        self.graph.tensors = []

    def add(self, name, shape, value=None, scale=None, is_variable=False):
        tensor = schema.TensorT()
        tensor.name, tensor.shape = name, list(shape)
        tensor.type = TYPES["float32" if value is None else value.dtype.name]
        tensor.isVariable = is_variable
        if value is None:
            tensor.buffer = 0
        else:
            tensor.buffer = len(self.model.buffers)
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(value.tobytes(), np.uint8)
            self.model.buffers.append(buffer)
        if scale is not None:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale, tensor.quantization.zeroPoint = [scale], [0]
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def finish(self, inputs, outputs, places, options):
        code = schema.OperatorCodeT()
        code.builtinCode = schema.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM
        code.deprecatedBuiltinCode = code.builtinCode
        code.version = 3
        op = schema.OperatorT()
        op.opcodeIndex, op.inputs, op.outputs = 0, places, outputs
        op.builtinOptionsType = schema.BuiltinOptions.UnidirectionalSequenceLSTMOptions
        op.builtinOptions = options
        self.graph.inputs, self.graph.outputs, self.graph.operators = inputs, outputs, [op]
        self.model.operatorCodes, self.model.subgraphs = [code], [self.graph]
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def model_of(case, batch=2, steps=6, width=5, cells=4):
    out = case.get("projection", cells)
    b = Builder()
    shape = [steps, batch] if case.get("time_major") else [batch, steps]
    x = b.add("x", [*shape, width])

    def reals(name, *sizes):
        return b.add(name, sizes, random.normal(0, 0.5, sizes).astype(np.float32))

    def weights(name, *sizes):
        if not case.get("int8"):
            return reals(name, *sizes)
        numbers = random.integers(-127, 128, sizes).astype(np.int8)
        return b.add(name, sizes, numbers, scale=float(random.uniform(0.004, 0.008)))

    first = 1 if case.get("coupled") else 0
    places = [x] + [-1] * 23
    for gate in range(first, 4):
        places[1 + gate] = weights(f"w{gate}", cells, width)
        places[5 + gate] = weights(f"r{gate}", cells, out)
        places[12 + gate] = reals(f"b{gate}", cells)
        if case.get("normalised"):
            places[20 + gate] = reals(f"n{gate}", cells)
    for at in range(first, 3) if case.get("peepholes") else ():
        places[9 + at] = reals(f"p{at}", cells)
    if "projection" in case:
        places[16] = weights("projection", out, cells)
        if case.get("bias"):
            places[17] = reals("projection_bias", out)
    places[18] = b.add("h", [batch, out], is_variable=True)
    places[19] = b.add("c", [batch, cells], is_variable=True)
    y = b.add("y", [*shape, out])
    options = schema.UnidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction = getattr(
        schema.ActivationFunctionType, case.get("activation", "TANH")
    )
    options.cellClip = case.get("cell_clip", 0.0)
    options.projClip = case.get("projection_clip", 0.0)
    options.timeMajor = bool(case.get("time_major"))
    options.asymmetricQuantizeInputs = bool(case.get("asymmetric"))
    return b.finish([x], [y], places, options)


def record(name, case):
    model = model_of(case)
    interpreter = interpreter_of(model)
    interpreter.allocate_tensors()
    given, made = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    calls = []
    for _ in range(2):
        x = random.normal(size=given["shape"]).astype(np.float32)
        interpreter.set_tensor(given["index"], x)
        interpreter.invoke()
        calls.append([array(x), array(interpreter.get_tensor(made["index"]))])
    data = base64.b64encode(zlib.compress(model, 9)).decode()
    return {"name": name, "model": data, "calls": calls}


def main():
    lines = [json.dumps(record(name, case)) for name, case in CASES.items()]
    path = Path(__file__).parent / "tflite_states.json"
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(lines)} cases, {path.stat().st_size} bytes, TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
