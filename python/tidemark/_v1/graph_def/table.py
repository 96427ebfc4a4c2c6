"""Which op of TensorFlow an op of ours is: the one place where the two vocabularies meet.

A line: our op, TensorFlow's, our parameters in the order of TensorFlow's inputs, attributes as
``theirs=ours``, and what operations are called unless named, where that is not TensorFlow's op.
``@axis`` is an attribute of ours that TensorFlow takes as an input, a constant; ``*values`` a list.
Attributes that tell the dtype or the number of inputs are not listed: they follow from the inputs.
"""

from __future__ import annotations

_LINES = """
relu | Relu | features
relu_grad | ReluGrad | dy activations
relu6 | Relu6 | features
leaky_relu | LeakyRelu | features | alpha=alpha
elu | Elu | features
selu | Selu | features
softplus | Softplus | features
softsign | Softsign | features
add | AddV2 | x y | | add
subtract | Sub | x y | | sub
multiply | Mul | x y | | mul
truediv | RealDiv | x y | | truediv
divide_no_nan | DivNoNan | x y | | div_no_nan
multiply_no_nan | MulNoNan | x y | | multiply_no_nan
xdivy | Xdivy | x y
negative | Neg | x
square | Square | x
squared_difference | SquaredDifference | x y
maximum | Maximum | x y
minimum | Minimum | x y
clip_by_value | ClipByValue | t clip_value_min clip_value_max | | clip_by_value
abs | Abs | x
sign | Sign | x
add_n | AddN | *inputs
atan2 | Atan2 | y x
xlogy | Xlogy | x y
xlog1py | Xlog1py | x y
cast | Cast | x | DstT=dtype
bitcast | Bitcast | input | type=type
equal | Equal | x y
not_equal | NotEqual | x y
less | Less | x y
less_equal | LessEqual | x y
greater | Greater | x y
greater_equal | GreaterEqual | x y
logical_and | LogicalAnd | x y
logical_or | LogicalOr | x y
logical_not | LogicalNot | x
is_nan | IsNan | x
is_inf | IsInf | x
is_finite | IsFinite | x
bitwise_and | BitwiseAnd | x y
bitwise_or | BitwiseOr | x y
bitwise_xor | BitwiseXor | x y
left_shift | LeftShift | x y
right_shift | RightShift | x y
invert | Invert | x
complex | Complex | real imag
real | Real | input
imag | Imag | input
conj | Conj | x
angle | Angle | input
floordiv | FloorDiv | x y | | floordiv
floormod | FloorMod | x y | | mod
truncatediv | TruncateDiv | x y
truncatemod | TruncateMod | x y
pow | Pow | x y | | pow
nextafter | NextAfter | x1 x2
qr | Qr | input | full_matrices=full_matrices
eigh | SelfAdjointEigV2 | tensor | compute_v=compute_v
cholesky | Cholesky | input
triangular_solve | MatrixTriangularSolve | matrix rhs | lower=lower adjoint=adjoint
matrix_solve | MatrixSolve | matrix rhs | adjoint=adjoint
matrix_inverse | MatrixInverse | input | adjoint=adjoint
matrix_determinant | MatrixDeterminant | input
log_matrix_determinant | LogMatrixDeterminant | input
expm | MatrixExponential | input
sqrtm | MatrixSquareRoot | input
fill | Fill | dims value
zeros_like | ZerosLike | input | | zeros_like
ones_like | OnesLike | input | | ones_like
identity | Identity | input
stop_gradient | StopGradient | input
select | SelectV2 | condition x y
gather | GatherV2 | params indices @axis | batch_dims=batch_dims
gather_nd | GatherNd | params indices
one_hot | OneHot | indices depth on_value off_value | axis=axis | one_hot
nonzero | Where | condition
concat | ConcatV2 | *values @axis | | concat
stack | Pack | *values | axis=axis | stack
unstack | Unpack | value | num=num axis=axis | unstack
tile | Tile | input multiples
range | Range | start limit delta | | range
transpose | Transpose | a @perm | | transpose
reverse | ReverseV2 | tensor @axis
roll | Roll | input shift @axis
reverse_sequence | ReverseSequence | input seq_lengths | seq_dim=seq_axis batch_dim=batch_axis
sum | Sum | input_tensor @axis | keep_dims=keepdims
mean | Mean | input_tensor @axis | keep_dims=keepdims
prod | Prod | input_tensor @axis | keep_dims=keepdims
min | Min | input_tensor @axis | keep_dims=keepdims
max | Max | input_tensor @axis | keep_dims=keepdims
any | Any | input_tensor @axis | keep_dims=keepdims
all | All | input_tensor @axis | keep_dims=keepdims
euclidean_norm | EuclideanNorm | input_tensor @axis | keep_dims=keepdims
cumsum | Cumsum | x @axis | exclusive=exclusive reverse=reverse
cumprod | Cumprod | x @axis | exclusive=exclusive reverse=reverse
cumulative_logsumexp | CumulativeLogsumexp | x @axis | exclusive=exclusive reverse=reverse
argmax | ArgMax | input @axis | output_type=output_type
argmin | ArgMin | input @axis | output_type=output_type
scatter_nd | ScatterNd | indices updates shape
tensor_scatter_nd_update | TensorScatterUpdate | tensor indices updates
tensor_scatter_nd_add | TensorScatterAdd | tensor indices updates
tensor_scatter_nd_sub | TensorScatterSub | tensor indices updates
tensor_scatter_nd_min | TensorScatterMin | tensor indices updates
tensor_scatter_nd_max | TensorScatterMax | tensor indices updates
unsorted_segment_sum | UnsortedSegmentSum | data segment_ids num_segments
unsorted_segment_prod | UnsortedSegmentProd | data segment_ids num_segments
unsorted_segment_max | UnsortedSegmentMax | data segment_ids num_segments
unsorted_segment_min | UnsortedSegmentMin | data segment_ids num_segments
segment_sum | SegmentSum | data segment_ids
segment_mean | SegmentMean | data segment_ids
segment_prod | SegmentProd | data segment_ids
segment_max | SegmentMax | data segment_ids
segment_min | SegmentMin | data segment_ids
reshape | Reshape | tensor shape
expand_dims | ExpandDims | input @axis
squeeze | Squeeze | input | squeeze_dims=axis
shape | Shape | input | out_type=out_type
rank | Rank | input
size | Size | input | out_type=out_type
broadcast_to | BroadcastTo | input shape
slice | Slice | input_ begin size
strided_slice | StridedSlice | input_ begin end strides | begin_mask=begin_mask end_mask=end_mask \
ellipsis_mask=ellipsis_mask new_axis_mask=new_axis_mask shrink_axis_mask=shrink_axis_mask \
| strided_slice
strided_slice_grad | StridedSliceGrad | shape begin end strides dy | begin_mask=begin_mask \
end_mask=end_mask ellipsis_mask=ellipsis_mask new_axis_mask=new_axis_mask \
shrink_axis_mask=shrink_axis_mask
tensor_strided_slice_update | TensorStridedSliceUpdate | input begin end strides value \
| begin_mask=begin_mask end_mask=end_mask ellipsis_mask=ellipsis_mask \
new_axis_mask=new_axis_mask shrink_axis_mask=shrink_axis_mask
softmax | Softmax | logits
log_softmax | LogSoftmax | logits
sparse_softmax_cross_entropy | SparseSoftmaxCrossEntropyWithLogits | logits labels
softmax_cross_entropy | SoftmaxCrossEntropyWithLogits | logits labels
top_k | TopKV2 | input k | sorted=sorted
in_top_k | InTopKV2 | predictions targets @k
unique | Unique | x | out_idx=out_idx
unique_with_counts | UniqueWithCounts | x | out_idx=out_idx
invert_permutation | InvertPermutation | x
band_part | MatrixBandPart | input num_lower num_upper
igamma | Igamma | a x
igammac | Igammac | a x
zeta | Zeta | x q
polygamma | Polygamma | a x
betainc | Betainc | a b x
sqrt | Sqrt | x
rsqrt | Rsqrt | x
reciprocal | Reciprocal | x
floor | Floor | x
ceil | Ceil | x
round | Round | x
rint | Rint | x
exp | Exp | x
expm1 | Expm1 | x
log | Log | x
log1p | Log1p | x
sin | Sin | x
cos | Cos | x
tan | Tan | x
asin | Asin | x
acos | Acos | x
atan | Atan | x
sinh | Sinh | x
cosh | Cosh | x
tanh | Tanh | x
asinh | Asinh | x
acosh | Acosh | x
atanh | Atanh | x
sigmoid | Sigmoid | x
erf | Erf | x
erfc | Erfc | x
erfinv | Erfinv | x
ndtri | Ndtri | x
lgamma | Lgamma | x
digamma | Digamma | x
bessel_i0e | BesselI0e | x
bessel_i1e | BesselI1e | x
string_length | StringLength | input | unit=unit
string_join | StringJoin | *inputs | separator=separator
string_lower | StringLower | input | encoding=encoding
string_upper | StringUpper | input | encoding=encoding
string_strip | StringStrip | input
string_to_number | StringToNumber | input | out_type=out_type
string_to_hash_bucket_fast | StringToHashBucketFast | input | num_buckets=num_buckets
string_substr | Substr | input pos len | unit=unit
regex_full_match | RegexFullMatch | input pattern
regex_replace | RegexReplace | input pattern rewrite | replace_global=replace_global
as_string | AsString | input | precision=precision scientific=scientific shortest=shortest \
width=width fill=fill
decode_raw | DecodeRaw | input_bytes | out_type=out_type little_endian=little_endian
encode_base64 | EncodeBase64 | input | pad=pad
decode_base64 | DecodeBase64 | input
read_file | ReadFile | filename
random_shuffle | RandomShuffle | value | seed=seed
"""

# Whose operation of TensorFlow's depends on ranks or attributes: exporting.py knows how. Here is
# what they are called unless named.
_NAMES = {
    "matmul": "MatMul",
    "convolution": "Conv2D",
    "convolution_input_grad": "Conv2DBackpropInput",
    "convolution_filter_grad": "Conv2DBackpropFilter",
    "max_pool": "MaxPool",
    "max_pool_grad": "MaxPoolGrad",
    "avg_pool": "AvgPool",
    "avg_pool_grad": "AvgPoolGrad",
    "split": "split",
    "pad": "Pad",
    "ensure_shape": "EnsureShape",
    "linspace": "linspace",
    "random_normal": "random_normal",
    "random_uniform": "random_uniform",
    "random_truncated_normal": "truncated_normal",
    "random_uniform_int": "random_uniform",
    "logsumexp": "ReduceLogSumExp",
    "log_sigmoid": "LogSigmoid",
    "batch_norm": "FusedBatchNormV3",
    "boolean_mask": "boolean_mask",
    "constant": "Const",
    "placeholder": "Placeholder",
    "placeholder_with_default": "PlaceholderWithDefault",
    "read_variable": "ReadVariableOp",
    "update_variable": "AssignVariableOp",
    "is_variable_initialized": "VarIsInitializedOp",
    "no_op": "NoOp",
    "cond": "cond",
    "while": "while",
    "python_call": "PyFunc",
}

# Functions whose operations are called otherwise than those of operators.
FUNCTION_NAMES = {
    "tf.add": "Add", "tf.subtract": "Sub", "tf.multiply": "Mul", "tf.pow": "Pow",
    "tf.math.add": "Add", "tf.math.subtract": "Sub", "tf.math.multiply": "Mul",
    "tf.math.pow": "Pow", "tf.math.floormod": "FloorMod", "tf.math.mod": "FloorMod",
}  # fmt: skip


class Rule:
    """One line of the table."""

    __slots__ = ("ours", "theirs", "inputs", "attrs", "name")

    def __init__(self, line):
        cells = [cell.strip() for cell in line.split("|")] + [""] * 3
        self.ours, self.theirs = cells[0], cells[1]
        self.inputs = cells[2].split()
        self.attrs = dict(item.split("=") for item in cells[3].split())
        self.name = cells[4] or self.theirs


RULES = {rule.ours: rule for rule in map(Rule, _LINES.strip().splitlines())}
BY_THEIRS = {rule.theirs: rule for rule in RULES.values()}


def default_names():
    """What operations are called unless named: our kind → name."""
    return {**{rule.ours: rule.name for rule in RULES.values()}, **_NAMES}


_UPDATES = {"assign": "AssignVariableOp", "add": "AssignAddVariableOp",
            "subtract": "AssignSubVariableOp", "read": "ReadVariableOp",
            "is_initialized": "VarIsInitializedOp"}  # fmt: skip
_TYPES = {
    "convolution": "Conv2D", "split": "Split", "pad": "Pad", "linspace": "LinSpace",
    "random_normal": "RandomStandardNormal", "random_uniform": "RandomUniform",
    "random_truncated_normal": "TruncatedNormal", "random_uniform_int": "RandomUniformInt",
    "cond": "StatelessIf", "while": "StatelessWhile", "python_call": "PyFunc",
    "py_function": "EagerPyFunc",
}  # fmt: skip


def type_of_kind(kind):
    """TensorFlow's name for what nodes of a kind do; ``Tidemark>…`` where it has none."""
    rule = RULES.get(kind)
    if rule is not None:
        return rule.theirs
    return _TYPES.get(kind) or _NAMES.get(kind) or f"Tidemark>{kind}"


def type_of(node):
    """TensorFlow's name for what a node does; ``Tidemark>…`` where it has none."""
    kind = node.kind
    if kind == "matmul" and node.output(0).shape.rank != 2:
        return "BatchMatMulV2"
    use = node.variable_use
    if use is not None:
        if use[1] == "read" and use[0].name == node.label:
            return "VarHandleOp"
        return _UPDATES.get(use[1], f"Tidemark>{use[1]}")
    return type_of_kind(kind)


# Operations of TensorFlow that are read or written by functions of their own.
OTHERS = [
    "Const",
    "Placeholder",
    "PlaceholderV2",
    "PlaceholderWithDefault",
    "NoOp",
    "IdentityN",
    "PreventGradient",
    "Snapshot",
    "VarHandleOp",
    "ReadVariableOp",
    "AssignVariableOp",
    "AssignAddVariableOp",
    "AssignSubVariableOp",
    "VarIsInitializedOp",
    "VariableV2",
    "Variable",
    "Assign",
    "AssignAdd",
    "AssignSub",
    "IsVariableInitialized",
    "ResourceGather",
    "ResourceScatterAdd",
    "ResourceScatterSub",
    "ResourceScatterUpdate",
    "ResourceApplyGradientDescent",
    "ApplyGradientDescent",
    "MatMul",
    "BatchMatMul",
    "BatchMatMulV2",
    "BatchMatMulV3",
    "Einsum",
    "BiasAdd",
    "BiasAddV1",
    "BiasAddGrad",
    "Add",
    "Div",
    "Mod",
    "Select",
    "Concat",
    "Split",
    "SplitV",
    "Pad",
    "PadV2",
    "MirrorPad",
    "GatherV1",
    "Gather",
    "ResourceGatherNd",
    "Conv2D",
    "Conv2DBackpropInput",
    "Conv2DBackpropFilter",
    "DepthwiseConv2dNative",
    "Conv3D",
    "MaxPool",
    "MaxPoolV2",
    "MaxPoolGrad",
    "AvgPool",
    "AvgPoolGrad",
    "FusedBatchNorm",
    "FusedBatchNormV2",
    "FusedBatchNormV3",
    "L2Loss",
    "ComplexAbs",
    "Conj",
    "Relu6Grad",
    "TanhGrad",
    "SigmoidGrad",
    "RsqrtGrad",
    "SqrtGrad",
    "SoftplusGrad",
    "EluGrad",
    "ReciprocalGrad",
    "BroadcastGradientArgs",
    "ShapeN",
    "DynamicStitch",
    "EnsureShape",
    "LinSpace",
    "MatrixDiag",
    "MatrixDiagV3",
    "MatrixDiagPart",
    "MatrixDiagPartV3",
    "MatrixSetDiag",
    "MatrixSetDiagV3",
    "RandomStandardNormal",
    "RandomUniform",
    "TruncatedNormal",
    "RandomUniformInt",
    "ResizeBilinear",
    "ResizeNearestNeighbor",
    "SpaceToDepth",
    "DepthToSpace",
    "Svd",
    "LogicalXor",
    "ApproximateEqual",
    "Assert",
    "Print",
    "StatelessIf",
    "If",
    "StatelessWhile",
    "While",
    "PartitionedCall",
    "StatefulPartitionedCall",
    "StaticRegexReplace",
    "StaticRegexFullMatch",
    "ClipByValue",
    "InvertPermutation",
    "CheckNumerics",
]
