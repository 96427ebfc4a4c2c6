"""Which op of TensorFlow an op of ours is.

Where one is just the other the op's own definition says so (``.tensorflow(…)`` in C++), and
libraries of ops loaded later bring theirs. Here stand the names of those that are more than that.
"""

from __future__ import annotations

from tidemark import _tidemark

# Whose operation of TensorFlow's depends on ranks or attributes: exporting.py knows how. Here is
# what they are called unless named.
# op names: those whose definition cannot say it.
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
    """How one op of TensorFlow takes what one of ours does.

    ``inputs``: our parameters in the order of TensorFlow's inputs. ``@axis`` is an attribute of
    ours that TensorFlow takes as an input, a constant; ``*values`` a list. ``attrs``: theirs →
    ours; those that tell the dtype or the number of inputs follow from the inputs.
    """

    __slots__ = ("ours", "theirs", "inputs", "attrs", "name", "listed")

    def __init__(self, schema):
        foreign, params = schema["tensorflow"], {p["name"]: p for p in schema["params"]}
        signs = {"attr": "@", "input_list": "*", "input": ""}
        self.ours, self.theirs, self.name = schema["name"], foreign["op"], foreign["label"]
        self.inputs = [signs[params[name]["kind"]] + name for name in foreign["inputs"]]
        self.attrs = foreign["attrs"]
        #: attributes of ours that are lists
        self.listed = {p["name"] for p in schema["params"] if p.get("type") == "ints"}


_rules, _rules_by_theirs = {}, {}  # what was asked for and found; definitions do not change


def _rule(schema):
    if schema is None or schema["tensorflow"] is None:
        return None
    return _rules.setdefault(schema["name"], Rule(schema))


def rule_of(ours):
    """The rule of an op of ours, or None."""
    return _rules.get(ours) or _rule(_tidemark.op_schema(ours))


def rule_by_theirs(theirs):
    """The rule of an op of TensorFlow's, or None."""
    rule = _rules_by_theirs.get(theirs) or _rule(_tidemark.op_of_tensorflow(theirs))
    if rule is not None:
        _rules_by_theirs[theirs] = rule
    return rule


def default_names():
    """What operations are called unless named: our kind → name."""
    rules = filter(None, map(_rule, _tidemark.list_ops()))
    return {**{rule.ours: rule.name for rule in rules}, **_NAMES}


_UPDATES = {"assign": "AssignVariableOp", "add": "AssignAddVariableOp",
            "subtract": "AssignSubVariableOp", "read": "ReadVariableOp",
            "is_initialized": "VarIsInitializedOp"}  # fmt: skip
# op names: as above, where the type is another word than the name.
_TYPES = {
    "convolution": "Conv2D", "split": "Split", "pad": "Pad", "linspace": "LinSpace",
    "random_normal": "RandomStandardNormal", "random_uniform": "RandomUniform",
    "random_truncated_normal": "TruncatedNormal", "random_uniform_int": "RandomUniformInt",
    "cond": "StatelessIf", "while": "StatelessWhile", "python_call": "PyFunc",
    "py_function": "EagerPyFunc",
}  # fmt: skip


def type_of_kind(kind):
    """TensorFlow's name for what nodes of a kind do; ``Tidemark>…`` where it has none."""
    rule = rule_of(kind)
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
        if use[2] == "read" and use[1] == node.label:
            return "VarHandleOp"
        return _UPDATES.get(use[2], f"Tidemark>{use[2]}")
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
    "StatelessCase",
    "Case",
    "PartitionedCall",
    "StatefulPartitionedCall",
    "StaticRegexReplace",
    "StaticRegexFullMatch",
    "ClipByValue",
    "InvertPermutation",
    "CheckNumerics",
]
