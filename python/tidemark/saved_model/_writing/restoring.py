"""Nodes of a model's graph that save and restore its variables and fill its tables."""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark, dtypes
from tidemark._v1.graph_def.values import shape_message

_INIT = "__saved_model_init_op"
_V2 = 2  # the version of TensorFlow's checkpoints


def _texts(writer, name, values):
    array = np.array(values, dtype=object)
    return writer.constant(name, _tidemark.convert(array, dtypes.string._enum, None, False))


def add_saver(writer, saver_def, variables, keys):
    """``variables``: (number of the object, variable, handle); ``keys``: number → key."""
    if not variables:
        return
    prefix = writer.add(writer.fresh("saver_filename"), "Placeholder", (),
                        {"dtype": dtypes.string, "shape": []})  # fmt: skip
    names = [keys[number] for number, _, _ in variables]
    types = [variable.dtype for _, variable, _ in variables]
    saver_def.filename_tensor_name = f"{prefix}:0"
    saver_def.version = _V2
    keys_node = _texts(writer, "save/tensor_names", names)
    slices = _texts(writer, "save/shape_and_slices", [""] * len(names))
    values = [writer.add(writer.fresh(f"save/{handle}"), "ReadVariableOp", [handle],
                         {"dtype": dtype}) for (_, _, handle), dtype in
              zip(variables, types, strict=True)]  # fmt: skip
    known = {"dtypes": types}
    saved = writer.add("save/SaveV2", "SaveV2", [prefix, keys_node, slices, *values], known)
    read = writer.add("save/RestoreV2", "RestoreV2", [prefix, keys_node, slices], known)
    restored = []
    for at, ((_, _, handle), dtype) in enumerate(zip(variables, types, strict=True)):
        value = f"{read}:{at}" if at else read
        label = writer.fresh(f"save/Assign_{at}")
        writer.add(label, "AssignVariableOp", [handle, value], {"dtype": dtype})
        restored.append(label)
    done = writer.add("save/Identity", "Identity", [prefix], None, [dtypes.string], [saved])
    saver_def.save_tensor_name = f"{done}:0"
    saver_def.restore_op_name = writer.add("save/restore_all", "NoOp", control=restored)


def add_init_op(writer, meta, initialised):
    """The node that fills all tables, where there are some."""
    name = writer.add(writer.fresh("NoOp"), "NoOp", control=initialised)
    info = meta.signature_def[_INIT].outputs[_INIT]
    info.name = name
    info.tensor_shape.CopyFrom(shape_message(None))
    meta.collection_def["saved_model_main_op"].node_list.value.append(name)


__all__ = ["add_init_op", "add_saver"]
