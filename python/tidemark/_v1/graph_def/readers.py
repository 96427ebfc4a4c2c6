"""Operations of TensorFlow's that are more, or other, than one line of the table."""

from __future__ import annotations

import functools

import tidemark as tf
from tidemark import _tidemark, dtypes
from tidemark._graph import python_functions
from tidemark._graph.scopes import get_current_name_scope
from tidemark._graph.staged import python_call
from tidemark._tidemark import call as run
from tidemark._v1.graph import Operation, current_place
from tidemark._v1.graph_def import values
from tidemark._v1.variables import RefVariable
from tidemark.tensor_shape import as_shape, sizes_of

READERS = {}
# What only a node of a graph can be: they make, or refer to, what lives with it.
NEEDS_GRAPH = ("ApplyGradientDescent", "Assign", "AssignAdd", "AssignAddVariableOp", "AssignSub",
               "AssignSubVariableOp", "AssignVariableOp", "Const", "If", "IsVariableInitialized",
               "NoOp", "PartitionedCall", "Placeholder", "PlaceholderV2", "PlaceholderWithDefault",
               "ReadVariableOp", "ResourceApplyGradientDescent", "ResourceGather",
               "ResourceGatherNd", "ResourceScatterAdd", "ResourceScatterSub",
               "ResourceScatterUpdate", "StatefulPartitionedCall", "StatelessIf", "StatelessWhile",
               "VarHandleOp", "VarIsInitializedOp", "Variable", "VariableV2", "While")  # fmt: skip
# Of TensorFlow's first kind of variables: these take the variable itself, others its value.
TAKES_VARIABLE = ("Assign", "AssignAdd", "AssignSub", "IsVariableInitialized",
                  "ApplyGradientDescent")  # fmt: skip
# These pass variables on to functions of the library.
CALLS_FUNCTIONS = ("If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile",
                   "PartitionedCall", "StatefulPartitionedCall")  # fmt: skip


def reads(*ops):
    def register(function):
        for op in ops:
            READERS[op] = function
        return function

    return register


class VariableHandle:
    """What stands for a variable among the inputs of nodes."""

    def __init__(self, variable):
        self.variable = variable
        self.dtype = variable.dtype


# --- values --------------------------------------------------------------------------------------


@reads("Const")
def _const(call):
    value = call.attr("value")
    if value.dtype != call.attr("dtype"):
        call.fail(f"the value has dtype {value.dtype.name}; attr 'dtype' is "
                  f"{call.attr('dtype').name}")  # fmt: skip
    return _tidemark.traced_constant(value)


@reads("Placeholder", "PlaceholderV2")
def _placeholder(call):
    shape = call.attr("shape")
    if call.attr("dtype") == "resource":
        return _resource(call)
    if "_output_shapes" not in call.node.attr and isinstance(shape, str):
        shape = None
    return _tidemark.placeholder(call.attr("dtype"), None if isinstance(shape, str) else shape)


def _resource(call):
    """A variable that a function captured, where the message says what it holds."""
    held = [call.node.attr.get(name) for name in ("_handle_dtypes", "_handle_shapes")]
    if None in held:
        call.fail("a resource of which the dtype and the shape are not said: map it to a tensor")
    what = f"the resource '{call.node.name}'"
    (dtype,) = values.get_attr(held[0], "list(type)", what)
    (shape,) = values.get_attr(held[1], "list(shape)", what)
    return [VariableHandle(_Imported(current_scope_name(call), dtype, shape))]


@reads("PlaceholderWithDefault")
def _with_default(call):
    return _tidemark.placeholder_with_default(call.inputs[0], call.attr("shape"))


@reads("NoOp")
def _no_op(call):
    return Operation(_tidemark.no_op())


@reads("IdentityN")
def _identities(call):
    return [run("identity", (t,)) for t in call.inputs]


@reads("PreventGradient", "Snapshot")
def _identity(call):
    return run("identity", (call.inputs[0],))


@reads("CheckNumerics")
def _checked(call):
    message = call.attr("message")
    text = message.decode() if isinstance(message, bytes) else message
    return tf.debugging.check_numerics(call.inputs[0], text)


@reads("PyFunc", "PyFuncStateless", "EagerPyFunc")
def _python(call):
    token = call.attr("token")
    function = python_functions.function_of(token)
    if function is None:
        call.fail(f"callback {token} is not found: a Python function is read back in the process "
                  "that wrote it, while the graph it belongs to is there")  # fmt: skip
    types = call.attr("Tout")
    shapes = [None] * len(types)
    if "_output_shapes" in call.node.attr:
        listed = call.node.attr["_output_shapes"].list.shape
        what = f"the shape of node '{call.node.name}'"
        shapes = [sizes_of(values.shape_from(shape, what)) for shape in listed] or shapes
    return python_call(function, call.inputs, list(zip(types, shapes, strict=True)))


# --- variables -----------------------------------------------------------------------------------


class _Imported(RefVariable):
    """A variable that a GraphDef declares: its initializer is a node of the GraphDef."""

    synchronization, aggregation = tf.VariableSynchronization.AUTO, tf.VariableAggregation.NONE

    def __init__(self, name, dtype, shape):
        place = current_place()
        self._graph, self._name = place.graph, name
        self._trainable, self.constraint = True, None
        self._initial_value = None
        self._handle = _tidemark.GraphVariable(name, dtype, as_shape(shape), True)
        self._reading = self._handle.read()
        self._initializer = None


@reads("VarHandleOp", "VariableV2", "Variable")
def _variable(call):
    if current_place() is None:
        call.fail("variables are made in graphs of sessions: import the message there, or make the "
                  "variable outside of the function")  # fmt: skip
    name = current_scope_name(call)
    shape = call.attr("shape")
    made = _Imported(name, call.attr("dtype"), None if isinstance(shape, str) else shape)
    return [VariableHandle(made)]


def current_scope_name(call):
    """The name that the node will have."""
    return get_current_name_scope() or call.node.name


def _handle(call):
    handle = call.inputs[0]
    if not isinstance(handle, VariableHandle):
        call.fail("the first input is no variable")
    return handle.variable


@reads("ReadVariableOp")
def _read(call):
    variable = _handle(call)
    if call.attr("dtype") != variable.dtype:
        call.fail(f"the variable '{variable._name}' holds {variable.dtype.name}; attr 'dtype' is "
                  f"{call.attr('dtype').name}")  # fmt: skip
    return variable._handle.read()


@reads("VarIsInitializedOp", "IsVariableInitialized")
def _is_initialized(call):
    return _handle(call)._handle.is_initialized()


_UPDATES = {
    "AssignVariableOp": "assign", "AssignAddVariableOp": "add", "AssignSubVariableOp": "subtract",
    "Assign": "assign", "AssignAdd": "add", "AssignSub": "subtract",
}  # fmt: skip


@reads(*_UPDATES)
def _update(call):
    variable, value = _handle(call), call.inputs[1]
    if value.dtype != variable.dtype:
        call.fail(f"the variable '{variable._name}' holds {variable.dtype.name}; the value is "
                  f"{value.dtype.name}")  # fmt: skip
    if not variable.shape.is_compatible_with(value.shape):
        call.fail(f"the variable '{variable._name}' has shape {variable.shape}; the value has "
                  f"{value.shape}")  # fmt: skip
    node, made = variable._handle.update(_UPDATES[call.node.op], [value], ())
    return made if not call.node.op.endswith("VariableOp") else Operation(node)


@reads("ResourceApplyGradientDescent", "ApplyGradientDescent")
def _descend(call):
    variable = _handle(call)
    _, alpha, delta = call.inputs
    node, made = variable._handle.update("subtract", [alpha * delta], ())
    return made if call.node.op == "ApplyGradientDescent" else Operation(node)


@reads("ResourceGather")
def _gather_variable(call):
    reading = _handle(call)._handle.read()
    return run("gather", (reading, call.inputs[1]), {"axis": 0, "batch_dims": 0})


# --- arithmetic ----------------------------------------------------------------------------------


@reads("Add")
def _add(call):
    return run("add", tuple(call.inputs))


@reads("Div")
def _div(call):
    x, y = call.inputs
    return run("truncatediv" if x.dtype.is_integer else "truediv", (x, y))


@reads("Mod")
def _mod(call):
    return run("truncatemod", tuple(call.inputs))


@reads("Select")
def _select(call):
    condition, x, y = call.inputs
    rank = x.shape.rank
    if condition.shape.rank == 1 and rank is not None and rank > 1:  # chooses rows
        sizes = run("concat", ([run("shape", (condition,)), [1] * (rank - 1)],), {"axis": 0})
        condition = run("reshape", (condition, sizes))
    return run("select", (condition, x, y))


@reads("MatMul")
def _matmul(call):
    attrs = {"transpose_a": call.attr("transpose_a"), "transpose_b": call.attr("transpose_b")}
    return run("matmul", tuple(call.inputs), attrs)


@reads("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def _batch_matmul(call):
    attrs = {"adjoint_a": call.attr("adj_x"), "adjoint_b": call.attr("adj_y")}
    return run("matmul", tuple(call.inputs), attrs)


@reads("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
def _cross_entropy(call):
    """The losses, and their gradient by the features."""
    features, labels = call.inputs
    is_sparse = call.node.op.startswith("Sparse")
    op = "sparse_softmax_cross_entropy" if is_sparse else "softmax_cross_entropy"
    if is_sparse:
        one, zero = (run("cast", (value,), {"dtype": features.dtype._enum}) for value in (1, 0))
        hot = run("one_hot", (labels, run("shape", (features,))[-1], one, zero), {})
    else:
        hot = labels
    return [run(op, (features, labels))[0], run("softmax", (features,), {}) - hot]


@reads("Einsum")
def _einsum(call):
    return tf.einsum(call.attr("equation"), *call.inputs)


@reads("BiasAdd", "BiasAddV1")
def _bias_add(call):
    data_format = call.attr("data_format") if call.node.op == "BiasAdd" else "NHWC"
    return tf.nn.bias_add(call.inputs[0], call.inputs[1], data_format=data_format)


@reads("BiasAddGrad")
def _bias_add_grad(call):
    x = call.inputs[0]
    axes = list(range(x.shape.rank))
    axes.pop(1 if call.attr("data_format") == "NCHW" else -1)
    return run("sum", (x,), {"axis": axes, "keepdims": False})


@reads("L2Loss")
def _l2_loss(call):
    return tf.nn.l2_loss(call.inputs[0])


@reads("ComplexAbs")
def _complex_abs(call):
    return run("abs", tuple(call.inputs))


@reads("TanhGrad")
def _tanh_grad(call):
    y, dy = call.inputs
    return dy * (1.0 - y * y)


@reads("SigmoidGrad")
def _sigmoid_grad(call):
    y, dy = call.inputs
    return dy * y * (1.0 - y)


@reads("RsqrtGrad")
def _rsqrt_grad(call):
    y, dy = call.inputs
    return dy * -0.5 * y * y * y


@reads("SqrtGrad")
def _sqrt_grad(call):
    y, dy = call.inputs
    return dy * 0.5 / y


@reads("Relu6Grad")
def _relu6_grad(call):
    dy, x = call.inputs
    return tf.where(tf.logical_and(x > 0, x < 6), dy, tf.zeros_like(dy))


@reads("Softmax", "LogSoftmax")
def _softmax(call):
    op = "softmax" if call.node.op == "Softmax" else "log_softmax"
    return run(op, tuple(call.inputs), {"axis": -1})


@reads("ClipByValue")
def _clip(call):
    return run("clip_by_value", tuple(call.inputs))


# --- arrays --------------------------------------------------------------------------------------


@reads("Concat")
def _concat(call):
    return run("concat", (call.inputs[1:],), {"axis": int(call.static(0))})


@reads("Split")
def _split(call):
    attrs = {"num": call.attr("num_split"), "axis": int(call.static(0))}
    if attrs["num"] < 1:
        call.fail(f"attr 'num_split' is {attrs['num']}; it is at least 1")
    return _listed(run("split", (call.inputs[1],), attrs))


@reads("SplitV")
def _split_v(call):
    sizes = call.static(1).tolist()
    attrs = {"num": len(sizes), "axis": int(call.static(2)), "sizes": sizes}
    return _listed(run("split", (call.inputs[0],), attrs))


def _listed(made):
    return list(made) if isinstance(made, (list, tuple)) else [made]


@reads("Unpack")
def _unpack(call):
    attrs = {"num": call.attr("num"), "axis": call.attr("axis")}
    if attrs["num"] < 0:
        call.fail(f"attr 'num' is {attrs['num']}; it is at least 0")
    return _listed(run("unstack", tuple(call.inputs), attrs))


@reads("Pad", "PadV2")
def _pad(call):
    x = call.inputs[0]
    fill = call.inputs[2] if len(call.inputs) > 2 else tf.zeros([], x.dtype)
    return run("pad", (x, call.inputs[1], fill), {"mode": "CONSTANT"})


@reads("MirrorPad")
def _mirror_pad(call):
    fill = tf.zeros([], call.inputs[0].dtype)
    return run("pad", (*call.inputs, fill), {"mode": call.attr("mode")})


@reads("Gather")
def _gather(call):
    return run("gather", tuple(call.inputs), {"axis": 0, "batch_dims": 0})


@reads("ZerosLike")
def _zeros_like(call):
    return run("zeros_like", tuple(call.inputs))


@reads("OnesLike")
def _ones_like(call):
    return run("ones_like", tuple(call.inputs))


@reads("ShapeN")
def _shapes(call):
    return [run("shape", (t,), {"out_type": call.attr("out_type")}) for t in call.inputs]


@reads("EnsureShape")
def _ensure_shape(call):
    return tf.ensure_shape(call.inputs[0], call.attr("shape"))


@reads("LinSpace")
def _linspace(call):
    return run("linspace", tuple(call.inputs), {"axis": 0})


@reads("MatrixDiagV3", "MatrixDiag")
def _diag(call):
    k = int(call.static(1)) if call.node.op == "MatrixDiagV3" else 0
    return run("diag", (call.inputs[0],), {"k": k})


@reads("MatrixDiagPartV3", "MatrixDiagPart")
def _diag_part(call):
    k = int(call.static(1)) if call.node.op == "MatrixDiagPartV3" else 0
    return run("diag_part", (call.inputs[0],), {"k": k})


@reads("SpaceToDepth")
def _space_to_depth(call):
    return tf.nn.space_to_depth(call.inputs[0], call.attr("block_size"), call.attr("data_format"))


@reads("DepthToSpace")
def _depth_to_space(call):
    return tf.nn.depth_to_space(call.inputs[0], call.attr("block_size"), call.attr("data_format"))


# --- images --------------------------------------------------------------------------------------


@reads("Conv2D", "Conv3D")
def _conv(call):
    padding = call.attr("padding")
    if padding == "EXPLICIT":
        flat = call.attr("explicit_paddings")
        padding = [flat[i : i + 2] for i in range(0, len(flat), 2)]
    function = tf.nn.conv2d if call.node.op == "Conv2D" else tf.nn.conv3d
    return function(*call.inputs, call.attr("strides"), padding, call.attr("data_format"),
                    call.attr("dilations"))  # fmt: skip


@reads("DepthwiseConv2dNative")
def _depthwise(call):
    dilations = call.attr("dilations")
    return tf.nn.depthwise_conv2d(*call.inputs, call.attr("strides"), call.attr("padding"),
                                  call.attr("data_format"), dilations[1:3])  # fmt: skip


@reads("Conv2DBackpropInput")
def _conv_transposed(call):
    sizes, filters, dy = call.inputs
    return tf.nn.conv2d_transpose(dy, filters, sizes, call.attr("strides"), call.attr("padding"),
                                  call.attr("data_format"), call.attr("dilations"))  # fmt: skip


@reads("MaxPool", "AvgPool")
def _pool(call):
    function = tf.nn.max_pool2d if call.node.op == "MaxPool" else tf.nn.avg_pool2d
    return function(call.inputs[0], call.attr("ksize"), call.attr("strides"),
                    call.attr("padding"), call.attr("data_format"))  # fmt: skip


@reads("MaxPool3D", "AvgPool3D")
def _pool_3d(call):
    function = tf.nn.max_pool3d if call.node.op == "MaxPool3D" else tf.nn.avg_pool3d
    return function(call.inputs[0], call.attr("ksize"), call.attr("strides"),
                    call.attr("padding"), call.attr("data_format"))  # fmt: skip


@reads("Conv3DBackpropInputV2")
def _conv_transposed_3d(call):
    sizes, filters, dy = call.inputs
    return tf.nn.conv3d_transpose(dy, filters, sizes, call.attr("strides"), call.attr("padding"),
                                  call.attr("data_format"), call.attr("dilations"))  # fmt: skip


@reads("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(call):
    if call.attr("data_format") != "NHWC":
        call.fail("only NHWC is read")
    x, scale, offset, mean, variance = call.inputs
    epsilon = call.attr("epsilon")
    if call.attr("is_training"):
        y, mean, variance = run("batch_norm", (x, scale, offset), {"epsilon": epsilon})
    else:
        factor = tf.math.rsqrt(variance + epsilon) * scale
        y = tf.cast((tf.cast(x, factor.dtype) - mean) * factor + offset, x.dtype)
    rest = [run("identity", (t,)) for t in (mean, variance, mean, variance)]
    return [y, *rest, tf.zeros([0], scale.dtype)][: len(call.definition.outputs)]


@reads("ResizeBilinear", "ResizeNearestNeighbor")
def _resize(call):
    if not call.attr("half_pixel_centers") or call.attr("align_corners"):
        call.fail("only half_pixel_centers without align_corners is read")
    method = "bilinear" if call.node.op == "ResizeBilinear" else "nearest"
    return tf.image.resize(call.inputs[0], call.inputs[1], method)


# --- random numbers ------------------------------------------------------------------------------


def _seed(call):
    return call.attr("seed") or call.attr("seed2") or None


@reads("RandomStandardNormal")
def _normal(call):
    return tf.random.normal(call.inputs[0], dtype=call.attr("dtype"), seed=_seed(call))


@reads("TruncatedNormal")
def _truncated(call):
    return tf.random.truncated_normal(call.inputs[0], dtype=call.attr("dtype"), seed=_seed(call))


@reads("RandomUniform")
def _uniform(call):
    return tf.random.uniform(call.inputs[0], dtype=call.attr("dtype"), seed=_seed(call))


@reads("RandomUniformInt")
def _uniform_int(call):
    shape, low, high = call.inputs
    return tf.random.uniform(shape, low, high, call.attr("Tout"), _seed(call))


# --- control flow --------------------------------------------------------------------------------


@reads("PartitionedCall", "StatefulPartitionedCall")
def _called(call):
    return call.call_function(call.attr("f").name, call.inputs)


@reads("StatelessIf", "If")
def _if(call):
    condition, *arguments = call.inputs
    if condition.dtype != dtypes.bool:
        condition = condition != 0
    branches = [call.attr("then_branch").name, call.attr("else_branch").name]
    return list(tf.cond(
        condition,
        lambda: call.call_function(branches[0], arguments),
        lambda: call.call_function(branches[1], arguments),
    ))  # fmt: skip


@reads("StatelessWhile", "While")
def _while(call):
    condition, body = call.attr("cond").name, call.attr("body").name
    fixed = [isinstance(item, VariableHandle) for item in call.inputs]  # alike in every round

    def whole(given):
        given = iter(given)
        return [item if is_fixed else next(given)
                for item, is_fixed in zip(call.inputs, fixed, strict=True)]  # fmt: skip

    def changing(items):
        return [item for item, is_fixed in zip(items, fixed, strict=True) if not is_fixed]

    made = tf.while_loop(
        lambda *given: call.call_function(condition, whole(given))[0],
        lambda *given: changing(call.call_function(body, whole(given))),
        changing(call.inputs),
    )
    return whole(_listed(made))


@reads("StatelessCase", "Case")
def _case(call):
    index, *arguments = call.inputs
    names = [function.name for function in call.attr("branches")]
    return list(tf.switch_case(
        index, [functools.partial(call.call_function, name, arguments) for name in names]
    ))  # fmt: skip
