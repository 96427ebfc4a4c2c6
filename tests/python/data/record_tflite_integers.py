"""Records quantised models of single operators, and what TFLite's own kernels make of them, in
tflite_integers.json: run with TensorFlow 2.21.

    python tests/python/data/record_tflite_integers.py
"""

import json
from pathlib import Path

import numpy as np
import record_tflite as recording
import tensorflow as tf

numbers = np.random.default_rng(3)


def weights(*shape):
    return tf.constant(numbers.normal(size=shape).astype(np.float32))


def floats(*shapes):
    return [recording.spec(*shape, name=name) for shape, name in zip(shapes, "xyz", strict=False)]


FILTERS, MANY, POINT, DEPTH = weights(3, 3, 16, 13), weights(3, 3, 512, 3), weights(1, 1, 8, 8), (
    weights(3, 3, 13, 1)
)  # fmt: skip
SPREAD, DENSE, BIAS = weights(3, 3, 13, 16), weights(120, 13), weights(13)
NN = tf.nn

# name → (function, specs, how it is converted: "8" and "16" for integers of as many bits, "d" where
# only weights are integers)
CASES = {
    "conv": (lambda x: NN.conv2d(x, FILTERS, 1, "SAME") + BIAS, floats((1, 7, 9, 16)), "8 16 d"),
    "conv_strides": (lambda x: NN.relu6(NN.conv2d(x, FILTERS, 2, "SAME") + BIAS),
                     floats((1, 7, 9, 16)), "8 16"),
    "conv_dilated": (lambda x: NN.conv2d(x, FILTERS, 1, "SAME", dilations=2),
                     floats((1, 7, 9, 16)), "8"),
    "conv_point": (lambda x: NN.relu(NN.conv2d(x, POINT, 1, "VALID")), floats((1, 7, 9, 8)), "8"),
    "conv_of_many": (lambda x: NN.conv2d(x, MANY, 1, "SAME"), floats((1, 4, 4, 512)), "8 16 d"),
    "depthwise": (lambda x: NN.depthwise_conv2d(x, DEPTH, [1, 1, 1, 1], "SAME") + BIAS,
                  floats((1, 9, 9, 13)), "8 16"),
    "spread": (lambda x: NN.conv2d_transpose(x, SPREAD, [1, 14, 14, 13], 2, "SAME"),
               floats((1, 7, 7, 16)), "8 16 d"),
    "dense": (lambda x: tf.matmul(x, DENSE) + BIAS, floats((9, 120)), "8 16 d"),
    "dense_relu": (lambda x: NN.relu(tf.matmul(x, DENSE)), floats((1, 120)), "8 16"),
    "matmul": (tf.matmul, floats((2, 5, 8), (2, 8, 6)), "8 16"),
    "matmul_turned": (lambda x, y: tf.matmul(x, y, transpose_b=True),
                      floats((2, 5, 8), (2, 6, 8)), "8"),
    "add": (lambda x, y: x + y * 1.0, floats((12, 30), (12, 30)), "8 16"),
    "add_relu": (lambda x, y: NN.relu(x + y), floats((12, 30), (30,)), "8 16"),
    "sub": (lambda x, y: x - y, floats((12, 30), (12, 30)), "8 16"),
    "mul": (lambda x, y: x * y, floats((12, 30), (12, 30)), "8 16"),
    "mul_relu6": (lambda x, y: NN.relu6(x * y), floats((12, 30), (12, 30)), "8 16"),
    "squared_difference": (tf.math.squared_difference, floats((12, 30), (12, 30)), "8"),
    "maximum": (tf.maximum, floats((12, 30), (12, 30)), "8 16"),
    "greater": (lambda x, y: x > y, floats((12, 30), (12, 30)), "8"),
    "less_equal": (lambda x, y: x <= y, floats((12, 30), (12, 30)), "8"),
    "equal": (tf.equal, floats((12, 30), (12, 30)), "8"),
    "avg_pool": (lambda x: NN.avg_pool2d(x, 3, 2, "SAME"), floats((1, 10, 10, 5)), "8 16"),
    "max_pool": (lambda x: NN.max_pool2d(x, 3, 2, "SAME"), floats((1, 10, 10, 5)), "8 16"),
    "mean": (lambda x: tf.reduce_mean(x, [1, 2]), floats((3, 7, 7, 29)), "8 16"),
    "mean_keep": (lambda x: tf.reduce_mean(x, [1, 2], keepdims=True), floats((3, 7, 7, 29)),
                  "8 16"),
    "mean_last": (lambda x: tf.reduce_mean(x, -1), floats((9, 7, 13)), "8 16"),
    "sum": (lambda x: tf.reduce_sum(x, 1), floats((5, 17, 13)), "8"),
    "reduce_max": (lambda x: tf.reduce_max(x, 1), floats((5, 17, 13)), "8 16"),
    "softmax": (NN.softmax, floats((40, 10)), "8 16"),
    "log_softmax": (NN.log_softmax, floats((40, 10)), "8"),
    "logistic": (tf.sigmoid, floats((500,)), "8 16"),
    "tanh": (tf.tanh, floats((500,)), "8 16"),
    "relu": (NN.relu, floats((300,)), "8 16"),
    "relu6": (lambda x: NN.relu6(x * 3), floats((300,)), "8 16"),
    "leaky_relu": (lambda x: NN.leaky_relu(x, 0.1), floats((300,)), "8 16"),
    "hard_swish": (lambda x: x * NN.relu6(x + 3) * 0.16666667, floats((300,)), "8"),
    "gelu": (lambda x: NN.gelu(x, approximate=True), floats((300,)), "8 16"),
    "gelu_exact": (NN.gelu, floats((300,)), "8 16"),
    "elu": (NN.elu, floats((300,)), "8"),
    "exp": (tf.exp, floats((300,)), "8 16"),
    "abs": (tf.abs, floats((300,)), "8 16"),
    "sqrt": (lambda x: tf.sqrt(NN.relu(x)), floats((300,)), "8"),
    "rsqrt": (lambda x: tf.math.rsqrt(tf.abs(x) + 0.5), floats((300,)), "8 16"),
    "log": (lambda x: tf.math.log(tf.abs(x) + 0.1), floats((300,)), "8 16"),
    "concat": (lambda x, y: tf.concat([x * 2, y], 1), floats((4, 30), (4, 30)), "8 16"),
    "pad": (lambda x: tf.pad(x, [[0, 0], [1, 2]]), floats((4, 30)), "8 16"),
    "resize": (lambda x: tf.image.resize(x, [11, 7]), floats((1, 5, 10, 3)), "8 16"),
    "resize_aligned": (
        lambda x: tf.compat.v1.image.resize_bilinear(x, [11, 7], align_corners=True),
        floats((1, 5, 10, 3)), "8 16"),
    "resize_nearest": (lambda x: tf.image.resize(x, [11, 7], "nearest"), floats((1, 5, 10, 3)),
                       "8"),
    "select": (lambda x, y: tf.where(x > y, x, y), floats((4, 30), (4, 30)), "8"),
    "argmax": (lambda x: tf.argmax(x, -1), floats((12, 30)), "8"),
}  # fmt: skip
MODES = {"8": "int8", "16": "int16", "d": "dynamic"}


def convert(concrete, mode, specs):
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if mode != "dynamic":
        draws = np.random.default_rng(5)
        converter.representative_dataset = lambda: (
            [draws.normal(size=s.shape).astype(np.float32) for s in specs] for _ in range(20)
        )
        sets = tf.lite.OpsSet
        wide = sets.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        converter.target_spec.supported_ops = [
            wide if mode == "int16" else sets.TFLITE_BUILTINS_INT8
        ]
        kind = tf.int16 if mode == "int16" else tf.int8
        converter.inference_input_type = converter.inference_output_type = kind
    return converter.convert()


def main():
    lines = []
    for name, (f, specs, modes) in CASES.items():
        concrete = tf.function(f, input_signature=specs).get_concrete_function()
        for mode in map(MODES.get, modes.split()):
            model = convert(concrete, mode, specs)
            lines.append(json.dumps(recording.record(f"{name}_{mode}", model)))
    path = Path(__file__).parent / "tflite_integers.json"
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(lines)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
