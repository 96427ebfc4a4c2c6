"""Where inner names of TensorFlow are written that are no public ones.

An inner module → the modules of this package that are asked for its names, in this order, before
public_names.tsv is. Who adds a name adds it to one of these modules.
"""

from __future__ import annotations

import importlib.util

_HERE = "tidemark._tensorflow.inner."
_NEST = ("tidemark.nest", _HERE + "nesting")
_TRACKING = ("tidemark.__internal__.tracking", "tidemark._trackable.tracking", _HERE + "tracking")
_DATASETS = (_HERE + "datasets",)
_DISTRIBUTION = (_HERE + "distribution",)
_GRAPHS = (_HERE + "graphs",)
_CONTROL = (_HERE + "control_flow", "tidemark.compat.v1")
_LAYERS = (_HERE + "layers",)

HOMES = {
    "compiler.tf2xla.python.xla": ("tidemark._tensorflow.xla",),
    "python.data.experimental.ops.distribute": ("tidemark.data._dataset",),
    "python.data.ops.dataset_ops": ("tidemark.data", "tidemark.compat.v1.data"),
    "python.data.ops.from_generator_op": _DATASETS,
    "python.data.ops.from_sparse_tensor_slices_op": _DATASETS,
    "python.data.ops.from_tensor_slices_op": _DATASETS,
    "python.data.ops.from_tensors_op": _DATASETS,
    "python.data.ops.iterator_ops": _DATASETS,
    "python.data.ops.range_op": _DATASETS,
    "python.data.util.nest": _NEST,
    "python.data.util.structure": _DATASETS,
    "python.distribute.distribute_utils": _DISTRIBUTION,
    "python.distribute.input_lib": _DISTRIBUTION,
    "python.distribute.input_ops": _DISTRIBUTION,
    "python.distribute.ps_values": _DISTRIBUTION,
    "python.distribute.strategy_combinations": _DISTRIBUTION,
    "python.distribute.values": _DISTRIBUTION,
    "python.eager.context": (_HERE + "context", "tidemark.__internal__.eager_context"),
    "python.eager.def_function": ("tidemark._functions.function",),
    "python.eager.polymorphic_function.polymorphic_function": ("tidemark._functions.function",),
    "python.eager.function": ("tidemark._functions.function", "tidemark._functions.concrete"),
    "python.framework.config": ("tidemark.config.experimental", "tidemark.config"),
    "python.framework.func_graph": ("tidemark._graph.func_graph",),
    "python.framework.ops": (*_GRAPHS, "tidemark"),
    "python.framework.sparse_tensor": ("tidemark.sparse._tensor",),
    "python.framework.tensor": ("tidemark", _HERE + "specs"),
    "python.framework.tensor_shape": ("tidemark.tensor_shape",),
    "python.framework.tensor_spec": ("tidemark", _HERE + "specs"),
    "python.framework.tensor_util": (_HERE + "static",),
    "python.framework.test_util": (_HERE + "testing",),
    "python.framework.type_spec": (_HERE + "specs", "tidemark._tensor.specs"),
    "python.framework.type_spec_registry": (_HERE + "specs",),
    "python.keras.callbacks": (_HERE + "keras_names",),
    "python.keras.engine.data_adapter": (_HERE + "keras_names",),
    "python.keras.engine.input_spec": (_HERE + "keras_names",),
    "python.layers.base": _LAYERS,
    "python.layers.convolutional": _LAYERS,
    "python.layers.core": _LAYERS,
    "python.layers.normalization": _LAYERS,
    "python.layers.pooling": _LAYERS,
    "python.layers.utils": ("tidemark.__internal__.smart_cond",),
    "python.lib.io.file_io": (_HERE + "files",),
    "python.ops.array_ops": (_HERE + "arrays",),
    "python.ops.check_ops": ("tidemark.compat.v1",),
    "python.ops.control_flow_case": _CONTROL,
    "python.ops.control_flow_ops": _CONTROL,
    "python.ops.control_flow_util": _CONTROL,
    "python.ops.distributions.util": (_HERE + "random",),
    "python.ops.linalg.linear_operator": ("tidemark.linalg", _HERE + "linear_operators"),
    "python.ops.linalg.sparse.sparse": (_HERE + "csr",),
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": ("tidemark.sparse._products",),
    "python.ops.lookup_ops": ("tidemark.lookup", "tidemark.lookup._tables"),
    "python.ops.math_ops": (_HERE + "arrays",),
    "python.ops.metrics": ("tidemark._v1.metrics",),
    "python.ops.nn": ("tidemark.compat.v1.nn", "tidemark.nn"),
    "python.ops.parallel_for.control_flow_ops": (_HERE + "control_flow",),
    "python.ops.ragged.ragged_map_ops": ("tidemark",),
    "python.ops.ragged.ragged_tensor": ("tidemark.ragged._tensor",),
    "python.ops.ragged.ragged_util": (_HERE + "arrays",),
    "python.ops.random_ops": (_HERE + "random",),
    "python.ops.resource_variable_ops": (_HERE + "variables",),
    "python.ops.standard_ops": ("tidemark.compat.v1",),
    "python.ops.variable_scope": (_HERE + "variables", "tidemark.compat.v1"),
    "python.ops.variables": (_HERE + "variables",),
    "python.platform.tf_logging": ("tidemark.compat.v1.logging",),
    "python.pywrap_tfe": (_HERE + "context",),
    "python.saved_model.load_context": (_HERE + "saved_models",),
    "python.saved_model.model_utils.mode_keys": (_HERE + "saved_models",),
    "python.saved_model.save": (_HERE + "saved_models",),
    "python.trackable.base": _TRACKING,
    "python.trackable.data_structures": _TRACKING,
    "python.trackable.resource": _TRACKING,
    "python.training.tracking.base": _TRACKING,
    "python.training.tracking.data_structures": _TRACKING,
    "python.training.checkpoint_management": ("tidemark.train", "tidemark.compat.v1.train"),
    "python.training.evaluation": (_HERE + "evaluation",),
    "python.training.training": ("tidemark.compat.v1.train",),
    "python.util.all_util": (_HERE + "exporting",),
    "python.util.compat": ("tidemark.compat",),
    "python.util.deprecation": (_HERE + "deprecation",),
    "python.util.dispatch": ("tidemark.__internal__.dispatch",),
    "python.util.nest": _NEST,
    "python.util.object_identity": (_HERE + "identity",),
    "python.util.tf_contextlib": (_HERE + "wrapping",),
    "python.util.tf_decorator": ("tidemark.__internal__.decorator",),
    "python.util.tf_export": (_HERE + "exporting",),
    "python.util.tf_inspect": (_HERE + "inspecting",),
    "python.util.variable_utils": (_HERE + "variables",),
    "tools.docs.doc_controls": (_HERE + "docs",),
}

# Packages that hold the very modules of TensorFlow: what AutoGraph is built of.
_SAME = {"python.autograph.": "malt."}


def homes_of(module):
    """The modules that are asked for the names of an inner one."""
    found = HOMES.get(module, ())
    for theirs, ours in _SAME.items():
        if module.startswith(theirs) and not found:
            home = ours + module.removeprefix(theirs)
            return (home,) if _is_there(home) else ()
    return found


def _is_there(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
