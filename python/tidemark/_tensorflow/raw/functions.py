"""Operations of ``tf.raw_ops`` that are public functions with their arguments in another order
(functions.tsv), and those that are made of a few."""

from __future__ import annotations

import functools
import pathlib

import tidemark as tf
from tidemark._tensor.methods import Reference
from tidemark._tensorflow.raw import (
    cells,
    control,
    csr,
    datasets,
    elsewhere,
    gradients,
    layouts,
    lists,
    others,
    parsing,
    queues,
    random,
    sparse,
    stored,
    summaries,
    tables,
    waiting,
)
from tidemark._tidemark import call
from tidemark._v1.graph_def import op_defs, raw_calls

_TABLE = pathlib.Path(__file__).with_suffix(".tsv")


@functools.cache
def _lines():
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    rows = (line.split() for line in lines if line and not line.startswith("#"))
    return {op: (path, arguments) for op, path, *arguments in rows}


def _resolved(path):
    found = tf
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def names():
    """The operations that a function here stands for."""
    public = (op for op, (path, _) in _lines().items() if _resolved(path) is not None)
    return [*_WRITTEN, *public, *elsewhere.names()]


def refused_there():
    """The operations that raise what TensorFlow itself raises on a CPU."""
    return [
        name
        for name in elsewhere.names()
        if not (name in _WRITTEN or name in _lines() or raw_calls.is_computed(name))
    ]


def function(name):
    """The function of an operation; None."""
    if name in _WRITTEN:
        return elsewhere.only_in_graphs(name, raw_calls.keyword_function(name, _of_tensors(name)))
    path, arguments = _lines().get(name, (None, ()))
    public = path and _resolved(path)
    if public is None:
        return elsewhere.function(name)

    def computed(**given):
        positional = [given[item] for item in arguments if "=" not in item]
        keywords = dict(item.split("=") for item in arguments if "=" in item)
        return public(*positional, **{ours: given[theirs] for ours, theirs in keywords.items()})

    return raw_calls.keyword_function(name, computed)


def _of_tensors(name):
    """The function written below, with tensors for the operation's inputs."""
    inputs = op_defs.find(name).inputs

    def computed(**given):
        made = {}
        for one in inputs:
            value = given[one.name]
            is_list = one.is_list or one.number
            made[one.name] = (
                [_tensor(one, item) for item in value] if is_list else _tensor(one, value)
            )
        return _WRITTEN[name](**{**given, **made})

    return computed


def _tensor(argument, value):
    """The value as the input takes it: of the dtype that the operation says, if it says one."""
    if isinstance(value, Reference):
        return value
    if argument.kind in ("resource", "variant"):
        raise TypeError(f"Cannot convert {value!r} to a handle of dtype {argument.kind}")
    return tf.convert_to_tensor(value, argument.kind if argument.kind in _KINDS else None)


_KINDS = ("bool", "float32", "float64", "int32", "int64", "string", "uint8", "uint64")


# --- those that are no public function -----------------------------------------------------------


def _broadcast_gradient_args(s0, s1):
    """The axes that two broadcast operands have to be summed over, to get their shapes back."""
    shapes = (s0, s1)
    rank = tf.maximum(tf.size(shapes[0]), tf.size(shapes[1]))
    first, second = (tf.concat([tf.ones([rank - tf.size(s)], s.dtype), s], 0) for s in shapes)
    axes = []
    for own, other in ((first, second), (second, first)):
        summed = tf.logical_and(tf.equal(own, 1), tf.logical_or(own != other, tf.equal(other, 1)))
        axes.append(tf.cast(tf.reshape(tf.where(summed), [-1]), own.dtype))
    return axes


def _broadcast_args(s0, s1):
    return tf.broadcast_dynamic_shape(s0, s1)


def _igamma_grad_a(a, x):
    return call("igamma_grad_a", (a, x), {})


def _random_gamma_grad(alpha, sample):
    """How a sample moves with alpha while its share of the distribution stays the same."""
    density = tf.exp((alpha - 1) * tf.math.log(sample) - sample - tf.math.lgamma(alpha))
    return -_igamma_grad_a(alpha, sample) / density


def _empty(shape, dtype, init):
    return tf.zeros(shape, dtype)


def _softsign_grad(gradients, features):
    return gradients / tf.square(1 + tf.abs(features))


def _quantize_and_dequantize(
    input, input_min, input_max, signed_input, num_bits, range_given, narrow_range, axis,
    round_mode="HALF_TO_EVEN", **_,
):  # fmt: skip
    """Axis -1 is none here; the public function counts it from the end."""
    return tf.quantization.quantize_and_dequantize_v2(
        input, input_min, input_max, signed_input, int(num_bits), range_given, round_mode,
        narrow_range=narrow_range, axis=None if axis == -1 else axis,
    )  # fmt: skip


def _leaky_relu_grad(gradients, features, alpha):
    return tf.where(features > 0, gradients, alpha * gradients)


def _selu_grad(gradients, outputs):
    scale, scale_alpha = 1.0507009873554805, 1.7580993408473768
    return tf.where(outputs < 0, gradients * (outputs + scale_alpha), gradients * scale)


def _bound(side):
    def bound(sorted_inputs, values, out_type):
        return tf.searchsorted(sorted_inputs, values, side, out_type)

    return bound


def _nth_element(input, n, reverse):
    return tf.gather(tf.sort(input, direction="DESCENDING" if reverse else "ASCENDING"), n, axis=-1)


def _reverse(tensor, dims):
    axes = tf.reshape(tf.where(dims), [-1])
    return tf.reverse(tensor, tf.cast(axes, tf.int32))


def _sparse_tensor_dense_mat_mul(a_indices, a_values, a_shape, b, adjoint_a, adjoint_b):
    sparse = tf.SparseTensor(a_indices, a_values, a_shape)
    return tf.sparse.sparse_dense_matmul(sparse, b, adjoint_a, adjoint_b)


def _sparse_reorder(input_indices, input_values, input_shape):
    made = tf.sparse.reorder(tf.SparseTensor(input_indices, input_values, input_shape))
    return [made.indices, made.values]


def _conjugate_transpose(x, perm):
    return tf.transpose(x, perm, conjugate=True)


def _non_max_suppression_v3(boxes, scores, max_output_size, iou_threshold, score_threshold):
    return tf.image.non_max_suppression(
        boxes, scores, max_output_size, iou_threshold, score_threshold
    )


_WRITTEN = {
    **cells.WRITTEN,
    **control.WRITTEN,
    **csr.WRITTEN,
    **datasets.WRITTEN,
    **gradients.WRITTEN,
    **layouts.WRITTEN,
    **lists.WRITTEN,
    **others.WRITTEN,
    **parsing.WRITTEN,
    **queues.WRITTEN,
    **random.WRITTEN,
    **sparse.WRITTEN,
    **stored.WRITTEN,
    **summaries.WRITTEN,
    **tables.WRITTEN,
    **waiting.WRITTEN,
    "BroadcastArgs": _broadcast_args,
    "BroadcastGradientArgs": _broadcast_gradient_args,
    "ConjugateTranspose": _conjugate_transpose,
    "Empty": _empty,
    "IgammaGradA": _igamma_grad_a,
    "LeakyReluGrad": _leaky_relu_grad,
    "LowerBound": _bound("left"),
    "QuantizeAndDequantizeV2": _quantize_and_dequantize,
    "QuantizeAndDequantizeV3": _quantize_and_dequantize,
    "QuantizeAndDequantizeV4": _quantize_and_dequantize,
    "NonMaxSuppressionV3": _non_max_suppression_v3,
    "NthElement": _nth_element,
    "RandomGammaGrad": _random_gamma_grad,
    "Reverse": _reverse,
    "SeluGrad": _selu_grad,
    "SoftsignGrad": _softsign_grad,
    "SparseReorder": _sparse_reorder,
    "SparseTensorDenseMatMul": _sparse_tensor_dense_mat_mul,
    "UpperBound": _bound("right"),
}
