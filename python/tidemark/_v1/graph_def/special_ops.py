"""Operations whose form in TensorFlow depends on ranks or attributes."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._graph.python_functions import GraphStep, function_of, token_of

# --- attributes ----------------------------------------------------------------------------------


def rule_applies(node):
    """Whether the table's line says it all, for this node's attributes."""
    kind, attrs = node.kind, node.attrs
    if kind in ("softmax", "log_softmax"):
        rank = node.output(0).shape.rank
        return attrs["axis"] in (-1, None) or attrs["axis"] + 1 == rank
    if kind in ("zeros_like", "ones_like"):
        return attrs["dtype"] is None or attrs["dtype"] == node.inputs[0].dtype
    if kind == "gather_nd":
        return attrs["batch_dims"] == 0
    if kind == "transpose":
        return not attrs["conjugate"]
    if kind == "concat":
        return len(node.inputs) > 1  # theirs joins two or more
    if kind == "one_hot":
        return True
    if kind == "abs":
        return not node.inputs[0].dtype.is_complex
    return True


def attr_as_input(writer, node, name, value, label):
    """A constant of an attribute that TensorFlow takes as an input."""
    own = {"axis": "reduction_indices" if "keepdims" in node.attrs else "axis"}.get(name, name)
    rank = node.inputs[0].shape.rank
    if value is None:
        if "keepdims" in node.attrs:  # over all axes
            if rank is None:
                return _all_axes(writer, node, f"{label}/{own}")
            value = list(range(rank))
        elif name == "perm":
            value = list(range(rank))[::-1]
        elif name == "axis":
            value = node.attrs.get("batch_dims", 0)
    return writer.constant(f"{label}/{own}", value, dtypes.int32)


def _all_axes(writer, node, name):
    tensor = node.inputs[0]
    rank = writer.add(writer.fresh(f"{name}/Rank"), "Rank",
                      [writer.reference(tensor, name)], None, [tensor.dtype])  # fmt: skip
    start = writer.constant(f"{name}/start", 0, dtypes.int32)
    delta = writer.constant(f"{name}/delta", 1, dtypes.int32)
    types = [dtypes.int32] * 3
    return writer.add(writer.fresh(name), "Range", [start, rank, delta], None, types)


def attr_value(node, name, value, kind):
    """An attribute of ours as one of TensorFlow's of a kind; None: its default."""
    if value is None:
        if name == "axis" and node.kind == "one_hot":
            return -1
        if name == "num":
            return node.num_outputs
        return [] if kind.startswith("list") else None
    if kind.startswith("list") and not isinstance(value, (list, tuple)):
        return [value]
    if kind == "int" and isinstance(value, (list, tuple)):
        return value[0]
    return value


def plain_attr(value):
    """(kind, value) of an attribute of an op that TensorFlow does not have."""
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, int):
        return "int", value
    if isinstance(value, float):
        return "float", value
    if isinstance(value, (str, bytes)):
        return "string", value
    if isinstance(value, (list, tuple)):
        return "list(int)", list(value)
    return "type", value


# --- writers -------------------------------------------------------------------------------------

WRITERS = {}


def writes(*kinds):
    def register(function):
        for kind in kinds:
            WRITERS[kind] = function
        return function

    return register


def _refs(writer, node, label, *names):
    return [writer.reference(t, f"{label}/{n}") for t, n in zip(node.inputs, names, strict=False)]


def _types(node):
    return [t.dtype for t in node.inputs]


@writes("placeholder")
def _placeholder(writer, node, label):
    tensor = node.output(0)
    writer.add(label, "Placeholder", (), {"dtype": tensor.dtype, "shape": sizes_of(tensor)})
    return writer.outputs(node, label)


def sizes_of(tensor):
    """The sizes of a tensor as an attribute takes them."""
    return None if tensor.shape.rank is None else tensor.shape.as_list()


@writes("constant")
def _constant(writer, node, label):
    given = writer.argument_for(node.inputs[0])
    if given is None:
        writer.give(node, 0, writer.constant(label, node.inputs[0], is_node=True))
    else:
        writer.give(node, 0, writer.add(label, "Identity", [given], None, [node.inputs[0].dtype]))
    return True


@writes("placeholder_with_default")
def _with_default(writer, node, label):
    tensor = node.output(0)
    writer.add(label, "PlaceholderWithDefault", _refs(writer, node, label, "input"),
               {"dtype": tensor.dtype, "shape": sizes_of(tensor)})  # fmt: skip
    return writer.outputs(node, label)


@writes("py_function")
def _python(writer, node, label):
    token = token_of(node)
    if token is None:
        return False
    function = function_of(token)
    if isinstance(function, GraphStep) and function.write(writer, node, label):
        return True
    types = [node.output(i).dtype for i in range(node.num_outputs)]
    inputs = [writer.reference(t, f"{label}/input_{i}") for i, t in enumerate(node.inputs)]
    writer.add(label, "EagerPyFunc", [inputs], {"token": token, "Tout": types}, [_types(node)])
    return writer.outputs(node, label)


@writes("no_op")
def _no_op(writer, node, label):
    writer.add(label, "NoOp")
    return True


def reads_by_name(node):
    """Whether it is the reading that has its variable's name, which TensorFlow's handle has."""
    use = node.variable_use
    return use is not None and use[2] == "read" and use[1] == node.label


@writes("read_variable")
def _read(writer, node, label):
    use, tensor = node.variable_use, node.output(0)
    if use is None:
        return False
    handle = writer.variable(use, tensor.dtype, sizes_of(tensor))
    name = writer.fresh(f"{label}/Read/ReadVariableOp") if reads_by_name(node) else label
    writer.add(name, "ReadVariableOp", [handle], {"dtype": tensor.dtype})
    return writer.outputs(node, name)


@writes("is_variable_initialized")
def _is_initialized(writer, node, label):
    return False


@writes("update_variable")
def _update(writer, node, label):
    use = node.variable_use
    tensor = node.output(0) if node.num_outputs else node.inputs[0]
    op = {"assign": "AssignVariableOp", "add": "AssignAddVariableOp",
          "subtract": "AssignSubVariableOp"}.get(use[2] if use else "")  # fmt: skip
    if op is None:
        return _general_update(writer, node, label, use, tensor) if use else False
    handle = writer.variable(use, tensor.dtype, sizes_of(tensor))
    value = _refs(writer, node, label, "value")
    writer.add(label, op, [handle, *value], {"dtype": tensor.dtype})
    return _read_after(writer, node, label, handle, tensor)


def _read_after(writer, node, label, handle, tensor):
    """The value that an update leaves behind, for those who look at it."""
    if not node.num_outputs:
        return True
    name = writer.fresh(f"{label}/ReadVariableOp")
    writer.add(name, "ReadVariableOp", [handle], {"dtype": tensor.dtype}, control=[label])
    return writer.outputs(node, name)


def _general_update(writer, node, label, use, tensor):
    """Reads, computes and assigns: an update by an op of any kind."""
    handle = writer.variable(use, tensor.dtype, sizes_of(tensor))
    old = writer.add(writer.fresh(f"{label}/ReadVariableOp"), "ReadVariableOp", [handle],
                     {"dtype": tensor.dtype})  # fmt: skip
    inputs = [old, *[writer.reference(t, f"{label}/input") for t in node.inputs]]
    attrs = {name: plain_attr(value) for name, value in use[3].items() if value is not None}
    attrs["_output_types"] = ("list(type)", [tensor.dtype])
    new = writer.add(writer.fresh(f"{label}/{use[2]}"), "Tidemark>" + use[2], inputs, attrs)
    writer.add(label, "AssignVariableOp", [handle, new], {"dtype": tensor.dtype})
    return _read_after(writer, node, label, handle, tensor)


@writes("matmul")
def _matmul(writer, node, label):
    a, b = node.inputs
    attrs = node.attrs
    flip = [attrs["transpose_a"] or attrs["adjoint_a"], attrs["transpose_b"] or attrs["adjoint_b"]]
    if a.dtype.is_complex and (attrs["transpose_a"] or attrs["transpose_b"]):
        return False
    refs = _refs(writer, node, label, "a", "b")
    if a.shape.rank == 2 and b.shape.rank == 2 and not a.dtype.is_complex:
        known = {"transpose_a": flip[0], "transpose_b": flip[1]}
        writer.add(label, "MatMul", refs, known, _types(node))
    else:
        known = {"adj_x": flip[0], "adj_y": flip[1]}
        writer.add(label, "BatchMatMulV2", refs, known, _types(node))
    return writer.outputs(node, label)


def _spatial(values, count, edge=1):
    """Numbers along the spatial dimensions, with those of batch and channels around them."""
    values = list(values) or [1] * count
    if len(values) == 1 and count > 1:
        values = values * count
    return [edge, *values, edge] if len(values) == count else values


def _window_attrs(attrs, rank):
    count = rank - 2
    known = {"strides": _spatial(attrs["strides"], count), "padding": attrs["padding"]}
    if attrs["padding"] == "EXPLICIT":
        given = list(attrs["explicit_paddings"])
        known["explicit_paddings"] = [0, 0, *given, 0, 0] if len(given) == 2 * count else given
    return known


@writes("convolution")
def _convolution(writer, node, label):
    """Conv2D takes groups of channels; where each channel is one, there is an op for that."""
    image, filters = node.inputs
    rank = filters.shape.rank
    if rank not in (4, 5):
        return False
    channels = None if image.shape.rank is None else image.shape[-1]
    is_alike = filters.shape[-2] == channels
    if rank == 5 and (not is_alike or node.attrs["padding"] == "EXPLICIT"):
        return False
    known = _window_attrs(node.attrs, rank)
    known["dilations"] = _spatial(node.attrs["dilations"], rank - 2)
    given, types = _refs(writer, node, label, "input", "filter"), _types(node)
    op = "Conv2D" if rank == 4 else "Conv3D"
    if not is_alike and channels is not None and filters.shape[-2] == 1:
        op = "DepthwiseConv2dNative"
        height, width, _, outputs = filters.shape.as_list()
        shape = [height, width, channels, outputs // channels]
        to = writer.constant(f"{label}/filter_shape", shape, dtypes.int32)
        given[1] = writer.add(writer.fresh(f"{label}/filter"), "Reshape", [given[1], to], None,
                              [filters.dtype, dtypes.int32])  # fmt: skip
    writer.add(label, op, given, known, types)
    return writer.outputs(node, label)


@writes("convolution_input_grad", "convolution_filter_grad")
def _convolution_grad(writer, node, label):
    is_input, rank = "input" in node.kind, node.inputs[2].shape.rank
    if rank not in (4, 5) or (rank == 5 and node.attrs["padding"] == "EXPLICIT"):
        return False
    op = "Conv2DBackprop" if rank == 4 else "Conv3DBackprop"
    op += ("Input" if is_input else "Filter") + ("V2" if rank == 5 else "")
    at = 0 if is_input else 1
    refs = _refs(writer, node, label, "input", "filter", "out_backprop")
    sizes = node.inputs[at]
    if sizes.dtype != dtypes.int32:
        refs[at] = writer.add(writer.fresh(f"{label}/sizes"), "Cast", [refs[at]],
                              {"DstT": dtypes.int32}, [sizes.dtype])  # fmt: skip
    known = _window_attrs(node.attrs, rank)
    known["dilations"] = _spatial(node.attrs["dilations"], rank - 2)
    known["T"] = node.output(0).dtype
    writer.add(label, op, refs, known)
    return writer.outputs(node, label)


@writes("max_pool", "avg_pool")
def _pool(writer, node, label):
    rank = node.inputs[0].shape.rank
    if rank not in (4, 5) or set(node.attrs["dilations"]) - {1}:
        return False
    known = _window_attrs(node.attrs, rank)
    known["ksize"] = _spatial(node.attrs["ksize"], rank - 2)
    if node.attrs["padding"] == "EXPLICIT" and (node.kind == "avg_pool" or rank == 5):
        return False
    op = ("MaxPool" if node.kind == "max_pool" else "AvgPool") + ("3D" if rank == 5 else "")
    writer.add(label, op, _refs(writer, node, label, "input"), known, _types(node))
    return writer.outputs(node, label)


@writes("rfft", "irfft")
def _real_fft(writer, node, label):
    x, made = node.inputs[0], node.output(0)
    real = x if node.kind == "rfft" else made
    length = real.shape[-1] if real.shape.rank else None
    if length is None:
        return False
    size = writer.constant(f"{label}/fft_length", [length], dtypes.int32)
    known = {"Treal": real.dtype, "Tcomplex": made.dtype if real is x else x.dtype}
    writer.add(label, node.kind.upper(), [writer.reference(x, f"{label}/input"), size], known)
    return writer.outputs(node, label)


@writes("fft")
def _fft(writer, node, label):
    axes, rank = list(node.attrs["axes"]), node.inputs[0].shape.rank
    count = len(axes)
    if count > 3 or rank is None or [axis % rank for axis in axes] != [*range(rank - count, rank)]:
        return False
    op = ("IFFT" if node.attrs["inverse"] else "FFT") + ("" if count == 1 else f"{count}D")
    known = {"Tcomplex": node.inputs[0].dtype}
    writer.add(label, op, _refs(writer, node, label, "input"), known)
    return writer.outputs(node, label)


@writes("bincount")
def _bincount(writer, node, label):
    arr, size, weights = _refs(writer, node, label, "input", "size", "weights")
    if node.inputs[1].dtype != node.inputs[0].dtype:
        size = writer.add(writer.fresh(f"{label}/size_like"), "Cast", [size],
                          {"DstT": node.inputs[0].dtype}, [node.inputs[1].dtype])  # fmt: skip
    known = {"Tidx": node.inputs[0].dtype, "T": node.inputs[2].dtype,
             "binary_output": node.attrs["binary_output"]}  # fmt: skip
    writer.add(label, "DenseBincount", [arr, size, weights], known)
    return writer.outputs(node, label)


@writes("max_pool_grad")
def _max_pool_grad(writer, node, label):
    if node.inputs[0].shape.rank != 4 or set(node.attrs["dilations"]) - {1}:
        return False
    known = _window_attrs(node.attrs, 4)
    known["ksize"] = _spatial(node.attrs["ksize"], 2)
    refs = _refs(writer, node, label, "orig_input", "orig_output", "grad")
    writer.add(label, "MaxPoolGrad", refs, known, _types(node))
    return writer.outputs(node, label)


@writes("split")
def _split(writer, node, label):
    attrs, value = node.attrs, node.inputs[0]
    axis = writer.constant(f"{label}/split_dim", attrs["axis"], dtypes.int32)
    given = _refs(writer, node, label, "value")
    if attrs["sizes"] is None:
        writer.add(label, "Split", [axis, *given], {"num_split": attrs["num"], "T": value.dtype})
    else:
        sizes = writer.constant(f"{label}/size_splits", list(attrs["sizes"]), dtypes.int32)
        writer.add(label, "SplitV", [*given, sizes, axis],
                   {"num_split": attrs["num"], "T": value.dtype, "Tlen": dtypes.int32})  # fmt: skip
    return writer.outputs(node, label)


@writes("pad")
def _pad(writer, node, label):
    refs, types = _refs(writer, node, label, "input", "paddings", "constant_values"), _types(node)
    mode = node.attrs["mode"]
    if mode == "CONSTANT":
        writer.add(label, "PadV2", refs, None, types)
    else:
        writer.add(label, "MirrorPad", refs[:2], {"mode": mode}, types[:2])
    return writer.outputs(node, label)


@writes("ensure_shape")
def _ensure_shape(writer, node, label):
    sizes = [None if size < 0 else size for size in node.attrs["shape"]]
    refs = _refs(writer, node, label, "input")
    writer.add(label, "EnsureShape", refs, {"shape": sizes}, _types(node))
    return writer.outputs(node, label)


@writes("linspace")
def _linspace(writer, node, label):
    if node.inputs[0].shape.rank != 0:
        return False
    refs = _refs(writer, node, label, "start", "stop", "num")
    writer.add(label, "LinSpace", refs, None, _types(node))
    return writer.outputs(node, label)


# --- tables --------------------------------------------------------------------------------------

# op names: those on a table that they name by a number.
TABLE_KINDS = {"table_find", "table_insert", "table_remove", "table_size", "table_export"}


def table_key(number):
    """What stands for a table among the things that functions are given."""
    return "table", number


def _add_on_table(writer, node, label, op, names=(), types=(), attrs=None):
    handle = writer.table(table_key(node.attrs["table"]))
    refs = _refs(writer, node, label, *names)
    writer.add(label, op, [handle, *refs], attrs, [None, *types])
    return handle


def _has_table(writer, node):
    return writer.table(table_key(node.attrs["table"])) is not None


@writes("table_find")
def _find_in_table(writer, node, label):
    if not _has_table(writer, node):
        return False
    _add_on_table(writer, node, label, "LookupTableFindV2", ("keys", "default_value"), _types(node))
    return writer.outputs(node, label)


@writes("table_size")
def _size_of_table(writer, node, label):
    if not _has_table(writer, node):
        return False
    _add_on_table(writer, node, label, "LookupTableSizeV2")
    return writer.outputs(node, label)


@writes("table_export")
def _export_table(writer, node, label):
    if not _has_table(writer, node):
        return False
    known = {"Tkeys": node.output(0).dtype, "Tvalues": node.output(1).dtype}
    _add_on_table(writer, node, label, "LookupTableExportV2", attrs=known)
    return writer.outputs(node, label)


@writes("table_insert", "table_remove")
def _change_table(writer, node, label):
    """Ours give the size, which TensorFlow's do not."""
    if not _has_table(writer, node):
        return False
    is_insert = node.kind == "table_insert"
    op = "LookupTableInsertV2" if is_insert else "LookupTableRemoveV2"
    handle = _add_on_table(writer, node, label, op, ("keys", "values"), _types(node))
    name = writer.fresh(f"{label}/Size")
    writer.add(name, "LookupTableSizeV2", [handle], control=[label])
    writer.is_made_by(node, label)
    return writer.outputs(node, name)


# op names: what TensorFlow calls the draws that ours scale and shift.
_DRAWS = {"random_normal": "RandomStandardNormal", "random_truncated_normal": "TruncatedNormal",
          "random_uniform": "RandomUniform"}  # fmt: skip


@writes(*_DRAWS)
def _random(writer, node, label):
    attrs, tensor = node.attrs, node.output(0)
    shape = _refs(writer, node, label, "shape")
    drawn = writer.fresh(f"{label}/{_DRAWS[node.kind]}")
    seed = attrs["seed"] or 0
    writer.add(drawn, _DRAWS[node.kind], shape,
               {"dtype": tensor.dtype, "seed": seed, "seed2": seed}, _types(node))  # fmt: skip
    if node.kind == "random_uniform":
        factor, term = attrs["maxval"] - attrs["minval"], attrs["minval"]
    else:
        factor, term = attrs["stddev"], attrs["mean"]
    types = [tensor.dtype, tensor.dtype]
    by = writer.constant(f"{label}/stddev", factor, tensor.dtype)
    scaled = writer.add(writer.fresh(f"{label}/mul"), "Mul", [drawn, by], None, types)
    plus = writer.constant(f"{label}/mean", term, tensor.dtype)
    writer.add(label, "AddV2", [scaled, plus], None, types)
    return writer.outputs(node, label)


@writes("random_uniform_int")
def _random_int(writer, node, label):
    refs, types = _refs(writer, node, label, "shape", "minval", "maxval"), _types(node)
    seed = node.attrs["seed"] or 0
    writer.add(label, "RandomUniformInt", refs, {"seed": seed, "seed2": seed}, types)
    return writer.outputs(node, label)


@writes("diag", "diag_part")
def _diag(writer, node, label):
    part = node.kind == "diag_part"
    op = "MatrixDiagPartV3" if part else "MatrixDiagV3"
    k = writer.constant(f"{label}/k", node.attrs["k"], dtypes.int32)
    dtype = node.inputs[0].dtype
    padding = writer.constant(f"{label}/padding_value", 0, dtype)
    (given,) = _refs(writer, node, label, "input")
    rest = [k, padding] if part else [k, *_minus_ones(writer, label), padding]
    writer.add(label, op, [given, *rest], {"T": dtype})
    return writer.outputs(node, label)


def _minus_ones(writer, label):
    return [
        writer.constant(f"{label}/{name}", -1, dtypes.int32) for name in ("num_rows", "num_cols")
    ]
