"""Records models of TensorFlow's TFLite converter, and what its interpreter makes of them, in
tflite_cases.json: run with TensorFlow 2.21.

    python tests/python/data/record_tflite.py
"""

import base64
import json
import os
import tempfile
import zlib
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

F = tf.float32
random = np.random.default_rng(7)


def spec(*shape, dtype=F, name="x"):
    return tf.TensorSpec(shape, dtype, name=name)


def unary(f, *shape, dtype=F):
    return f, [spec(*(shape or (2, 3)), dtype=dtype)]


def binary(f, a=(2, 3), b=(2, 3), dtype=F):
    return f, [spec(*a, dtype=dtype, name="x"), spec(*b, dtype=dtype, name="y")]


def loop(x):
    def body(i, v):
        return i + 1, tf.nn.relu(v * 1.5 - 0.25)

    return tf.while_loop(lambda i, v: i < 4, body, [tf.constant(0), x])[1]


def branch(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)


CASES = {
    "add": binary(lambda x, y: x + y),
    "add_broadcast": binary(lambda x, y: x + y, (2, 3), (3,)),
    "add_int32": binary(lambda x, y: x + y, dtype=tf.int32),
    "sub_relu": binary(lambda x, y: tf.nn.relu(x - y)),
    "mul_relu6": binary(lambda x, y: tf.nn.relu6(x * y * 9)),
    "div": binary(lambda x, y: x / (y + 3)),
    "maximum": binary(tf.maximum),
    "minimum": binary(tf.minimum),
    "pow": binary(lambda x, y: tf.pow(tf.abs(x), y)),
    "floor_div": binary(lambda x, y: tf.math.floordiv(x * 5, y + 3)),
    "floor_mod": binary(lambda x, y: tf.math.floormod(x * 5, y + 3)),
    "squared_difference": binary(tf.math.squared_difference),
    "less": binary(tf.less),
    "greater_equal": binary(tf.greater_equal),
    "not_equal": binary(tf.not_equal, dtype=tf.int32),
    "logic": binary(lambda x, y: tf.logical_or(tf.logical_and(x > 0, y > 0), ~(x > y))),
    "atan2": binary(tf.math.atan2),
    "abs": unary(tf.abs),
    "neg": unary(tf.negative),
    "exp": unary(tf.exp),
    "log": unary(lambda x: tf.math.log(tf.abs(x) + 0.1)),
    "sin_cos": unary(lambda x: tf.sin(x) + tf.cos(x)),
    "sqrt_rsqrt": unary(lambda x: tf.sqrt(tf.abs(x)) + tf.math.rsqrt(tf.abs(x) + 1)),
    "square": unary(tf.square),
    "floor_ceil_round": unary(lambda x: tf.floor(x) + tf.math.ceil(x * 3) + tf.round(x * 5)),
    "sign": unary(tf.sign),
    "tanh": unary(tf.tanh),
    "logistic": unary(tf.sigmoid),
    "elu": unary(tf.nn.elu),
    "leaky_relu": unary(lambda x: tf.nn.leaky_relu(x, 0.1)),
    "gelu": unary(lambda x: tf.nn.gelu(x, approximate=True)),
    "hard_swish": unary(lambda x: x * tf.nn.relu6(x + 3) * 0.16666667),
    "relu_n1_to_1": unary(lambda x: tf.maximum(-1.0, tf.minimum(x * 3, 1.0))),
    "softmax": unary(tf.nn.softmax),
    "log_softmax": unary(tf.nn.log_softmax),
    "l2_normalize": unary(lambda x: tf.nn.l2_normalize(x, -1)),
    "local_response": unary(
        lambda x: tf.nn.local_response_normalization(x, 2, 1.0, 0.1, 0.5), 1, 2, 2, 6
    ),
    "prelu": unary(lambda x: tf.nn.relu(x) + tf.constant([0.1, 0.2, 0.3]) * -tf.nn.relu(-x)),
    "mean": unary(lambda x: tf.reduce_mean(x, [1, 2]), 2, 3, 4, 2),
    "sum_keep": unary(lambda x: tf.reduce_sum(x, 1, keepdims=True), 2, 3),
    "prod_max_min": unary(
        lambda x: tf.reduce_prod(x, 0) + tf.reduce_max(x, 0) + tf.reduce_min(x, 0)
    ),
    "any_all": unary(
        lambda x: tf.math.logical_xor(tf.reduce_any(x > 1, 1), tf.reduce_all(x > 0, 1))
    ),
    "argmax": unary(lambda x: tf.argmax(x, 1)),
    "argmin_int32": unary(lambda x: tf.argmin(x, 1, output_type=tf.int32)),
    "cumsum": unary(lambda x: tf.cumsum(x, 1, reverse=True)),
    "topk": unary(lambda x: tf.math.top_k(x, 2), 2, 5),
    "unique": unary(tf.unique, 6, dtype=tf.int32),
    "where": unary(lambda x: tf.where(x > -9), 2, 3),
    "select": binary(lambda x, y: tf.where(x > y, x, y)),
    "cast": unary(lambda x: tf.cast(x * 3, tf.int32)),
    "cast_bool": unary(lambda x: tf.cast(x > 0, F)),
    "reshape": unary(lambda x: tf.reshape(x, [3, -1])),
    "squeeze_expand": unary(lambda x: tf.expand_dims(tf.squeeze(x, 1), 0) * 2, 2, 1, 3),
    "transpose": unary(lambda x: tf.transpose(x, [2, 0, 1]), 2, 3, 4),
    "concat": binary(lambda x, y: tf.concat([x, y, x], 1)),
    "pack_unpack": unary(lambda x: tf.stack(tf.unstack(x, axis=1)[::-1], 0)),
    "split": unary(lambda x: tf.split(x, 3, 1), 2, 6),
    "split_sizes": unary(lambda x: tf.split(x, [1, 3, 2], 1), 2, 6),
    "slice": unary(lambda x: tf.slice(x, [0, 1], [2, 2]), 2, 4),
    "strided_slice": unary(lambda x: x[:, ::-2, tf.newaxis, 1], 2, 5, 3),
    "gather": unary(lambda x: tf.gather(x, [2, 0, 1, 1], axis=1), 2, 3),
    "gather_nd": unary(lambda x: tf.gather_nd(x, [[0, 1], [1, 2]]), 2, 3),
    "scatter_nd": unary(lambda x: tf.scatter_nd([[1], [3]], x, [5, 3])),
    "one_hot": unary(lambda x: tf.one_hot(x, 4), 3, dtype=tf.int32),
    "tile": unary(lambda x: tf.tile(x, [2, 1])),
    "pad": unary(lambda x: tf.pad(x, [[1, 0], [0, 2]])),
    "pad_value": unary(lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=2.5)),
    "mirror_pad": unary(lambda x: tf.pad(x, [[1, 1], [1, 2]], "REFLECT"), 3, 4),
    "reverse": unary(lambda x: tf.reverse(x, [1])),
    "reverse_sequence": unary(lambda x: tf.reverse_sequence(x, [2, 3], seq_axis=1), 2, 3),
    "fill_range": unary(lambda x: tf.fill(tf.shape(x), 2.0) * tf.cast(tf.range(3), F)),
    "broadcast_to": unary(lambda x: tf.broadcast_to(x, [4, 2, 3]) + 1.0),
    "depth_to_space": unary(lambda x: tf.nn.depth_to_space(x, 2), 1, 2, 3, 8),
    "space_to_depth": unary(lambda x: tf.nn.space_to_depth(x, 2), 1, 4, 6, 2),
    "space_to_batch": unary(
        lambda x: tf.space_to_batch_nd(x, [2, 2], [[0, 1], [1, 0]]), 1, 3, 5, 2
    ),
    "batch_to_space": unary(lambda x: tf.batch_to_space(x, [2, 2], [[0, 1], [1, 0]]), 4, 2, 3, 2),
    "resize_bilinear": unary(lambda x: tf.image.resize(x, [5, 7]), 1, 3, 4, 2),
    "resize_bilinear_old": unary(
        lambda x: tf.compat.v1.image.resize_bilinear(x, [5, 7], align_corners=True), 1, 3, 4, 2
    ),
    "resize_nearest": unary(lambda x: tf.image.resize(x, [5, 7], "nearest"), 1, 3, 4, 2),
    "resize_nearest_old": unary(
        lambda x: tf.compat.v1.image.resize_nearest_neighbor(x, [6, 4]), 1, 3, 4, 2
    ),
    "segment_sum": unary(lambda x: tf.math.segment_sum(x, [0, 0, 1]), 3, 2),
    "matrix_diag": unary(tf.linalg.diag),
    "matmul": binary(lambda x, y: tf.matmul(x, y), (2, 3, 4), (2, 4, 5)),
    "matmul_transposed": binary(
        lambda x, y: tf.matmul(x, y, transpose_b=True), (2, 3, 4), (2, 5, 4)
    ),
    "update_slice": unary(lambda x: tf.tensor_scatter_nd_update(x, [[1]], [[7.0, 8.0, 9.0]]), 2, 3),
    "loop": unary(loop),
    "branch": unary(branch),
}


def small_cnn():
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 3)),
            layers.Conv2D(4, 3, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.DepthwiseConv2D(3, strides=2, padding="same"),
            layers.ReLU(6),
            layers.Conv2D(6, 3, dilation_rate=2, padding="same", activation="tanh"),
            layers.MaxPooling2D(2),
            layers.Conv2DTranspose(3, 3, strides=2, padding="same"),
            layers.AveragePooling2D(2),
            layers.Flatten(),
            layers.Dense(5, activation="softmax"),
        ]
    )


def separable():
    layers = tf.keras.layers
    inputs = tf.keras.Input((8, 8, 2))
    x = layers.SeparableConv2D(4, 3, padding="valid", activation="relu")(inputs)
    y = layers.Conv2D(4, 1)(x)
    x = layers.Add()([x, y])
    x = layers.Concatenate()([x, y])
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(inputs, layers.Dense(3, activation="sigmoid")(x))


def transformer():
    layers = tf.keras.layers
    inputs = tf.keras.Input((6,), dtype="int32")
    x = layers.Embedding(11, 8)(inputs)
    y = layers.MultiHeadAttention(2, 4)(x, x)
    x = layers.LayerNormalization()(x + y)
    x = layers.Dense(8, activation="gelu")(x)
    return tf.keras.Model(inputs, layers.Dense(4)(layers.GlobalMaxPooling1D()(x)))


def recurrent():
    layers = tf.keras.layers
    inputs = tf.keras.Input((5, 3), batch_size=1)
    x = layers.LSTM(4, return_sequences=True)(inputs)
    return tf.keras.Model(inputs, layers.Dense(2)(layers.GRU(3)(x)))


MODELS = {
    "cnn": (small_cnn, ["float", "float16", "dynamic", "int8", "int8_inside"]),
    "separable": (separable, ["float", "int8", "int16"]),
    "transformer": (transformer, ["float", "float16"]),
    "recurrent": (recurrent, ["float"]),
}


def draw(shape, dtype):
    shape = [2 if size is None else size for size in shape]
    if dtype == tf.int32:
        return random.integers(0, 4, shape).astype(np.int32)
    return random.normal(size=shape).astype(np.float32)


def convert(concrete, mode, specs):
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
    if mode != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if mode == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if mode.startswith("int"):
        converter.representative_dataset = lambda: (
            [draw([1, *s.shape[1:]], s.dtype) for s in specs] for _ in range(50)
        )
        sets = tf.lite.OpsSet
        converter.target_spec.supported_ops = [
            sets.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
            if mode == "int16"
            else sets.TFLITE_BUILTINS_INT8
        ]
    if mode == "int8":
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


def quantised(value, detail):
    scale, zero = detail["quantization"]
    if scale == 0 or value.dtype != np.float32 or detail["dtype"] == np.float32:
        return value
    limits = np.iinfo(detail["dtype"])
    return np.clip(np.round(value / scale) + zero, limits.min, limits.max).astype(detail["dtype"])


def array(value):
    if value.dtype.kind in "OUS":
        return {"strings": [text.decode() for text in value.ravel()], "shape": value.shape}
    data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    return {"dtype": value.dtype.name, "shape": value.shape, "data": data}


def interpreter_of(model):
    # TFLite's own kernels, without delegates.
    resolver = tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return tf.lite.Interpreter(model_content=model, experimental_op_resolver_type=resolver)


def record(name, model):
    interpreter = interpreter_of(model)
    for detail in interpreter.get_input_details():
        shape = [2 if size == -1 else size for size in detail["shape_signature"]]
        if -1 in detail["shape_signature"]:
            interpreter.resize_tensor_input(detail["index"], shape)
    interpreter.allocate_tensors()
    inputs = []
    for detail in interpreter.get_input_details():
        is_whole = detail["dtype"] in (np.int32, np.int64)
        value = quantised(draw(detail["shape"], tf.int32 if is_whole else F), detail)
        inputs.append(array(value))
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    details = interpreter.get_output_details()
    return {
        "name": name,
        "model": base64.b64encode(zlib.compress(model, 9)).decode(),
        "inputs": inputs,
        "outputs": [array(np.asarray(interpreter.get_tensor(d["index"]))) for d in details],
        "quanta": [float(d["quantization"][0]) for d in details],
    }


class Signatures(tf.Module):
    @tf.function(input_signature=[spec(None, 2)])
    def double(self, x):
        return {"doubled": x * 2, "sum": tf.reduce_sum(x)}

    @tf.function(input_signature=[spec(3, name="a"), spec(3, name="b")])
    def mixed(self, a, b):
        return {"out": a - tf.nn.relu(b)}


def record_signatures():
    """One file with two signatures, and what each runner gives."""
    module = Signatures()
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, {"double": module.double, "mixed": module.mixed})
        model = tf.lite.TFLiteConverter.from_saved_model(folder).convert()
    interpreter, runs = interpreter_of(model), {}
    for key, inputs in {
        "double": {"x": draw([1, 2], F)},
        "mixed": {"a": draw([3], F), "b": draw([3], F)},
    }.items():
        outputs = interpreter.get_signature_runner(key)(**inputs)
        runs[key] = [
            {name: array(np.asarray(value)) for name, value in side.items()}
            for side in (inputs, outputs)
        ]
    return {
        "model": base64.b64encode(zlib.compress(model, 9)).decode(),
        "list": interpreter.get_signature_list(),
        "runs": runs,
    }


def main():
    lines = []
    for name, (f, specs) in CASES.items():
        concrete = tf.function(f, input_signature=specs).get_concrete_function()
        lines.append(json.dumps(record(name, convert(concrete, "float", specs))))
    for name, (make, modes) in MODELS.items():
        tf.keras.utils.set_random_seed(3)
        model = make()
        given = model.inputs[0]
        specs = [tf.TensorSpec(given.shape, given.dtype, name="images")]
        concrete = tf.function(model, input_signature=specs).get_concrete_function()
        for mode in modes:
            lines.append(json.dumps(record(f"{name}_{mode}", convert(concrete, mode, specs))))
    folder = Path(__file__).parent
    (folder / "tflite_signatures.json").write_text(json.dumps(record_signatures()) + "\n")
    path = folder / "tflite_cases.json"
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(lines)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
