"""Tidemark: tensor programs whose memory never surprises anyone, under TensorFlow's names.

    import tidemark as tf

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    print(tf.reduce_sum(x @ x, axis=0))
    print(tf.memory.report())

What is rarely used is loaded when it is first asked for.
"""

import importlib as _importlib

from tidemark import _tidemark, dtypes, errors, math
from tidemark._export import namespace as _namespace
from tidemark._export import refusing as _refusing
from tidemark._tensor import arrays as _arrays
from tidemark._tensor import creation as _creation
from tidemark._tensor import methods as _methods
from tidemark._tensor import variable as _variable
from tidemark._tidemark import Tensor
from tidemark.autodiff import _custom_gradient, _tape
from tidemark.dtypes import *  # noqa: F403
from tidemark.tensor_shape import TensorShape

__version__ = "2.21.0"  # of TensorFlow, whose names these are; our own is tf.version.TIDEMARK
newaxis = None

globals().update(_namespace("tf"))

# Loaded on first use: modules, and names with the module they live in.
_MODULES = (
    "__internal__",
    "__operators__",
    "audio",
    "autodiff",
    "autograph",
    "bitwise",
    "compat",
    "config",
    "data",
    "debugging",
    "distribute",
    "experimental",
    "image",
    "io",
    "linalg",
    "lite",
    "lookup",
    "memory",
    "nest",
    "nn",
    "onnx",
    "profiler",
    "quantization",
    "queue",
    "ragged",
    "random",
    "raw_ops",
    "safetensors",
    "saved_model",
    "sets",
    "signal",
    "sparse",
    "strings",
    "summary",
    "sysconfig",
    "test",
    "train",
    "types",
    "version",
    "weights",
    "xla",
)
_LAZY = {
    "Assert": "debugging._checks",
    "IndexedSlicesSpec": "_tensor.specs",
    "OptionalSpec": "_tensor.optional",
    "RaggedTensor": "ragged._tensor",
    "RaggedTensorSpec": "ragged._tensor",
    "SparseTensor": "sparse._tensor",
    "SparseTensorSpec": "sparse._tensor",
    "TensorSpec": "_tensor.specs",
    "TypeSpec": "_tensor.specs",
    "VariableSpec": "_tensor.specs",
    "TensorArray": "_tensor.tensor_array",
    "TensorArraySpec": "_tensor.tensor_array",
    "CriticalSection": "_graph.critical_section",
    "DeviceSpec": "config._placement",
    "Module": "_trackable.module",
    "approx_top_k": "_tensor.rare",
    "assert_equal": "debugging._checks",
    "assert_greater": "debugging._checks",
    "assert_less": "debugging._checks",
    "assert_rank": "debugging._checks",
    "device": "config._placement",
    "dynamic_stitch": "_tensor.stitching",
    "edit_distance": "sparse._edit_distance",
    "extract_volume_patches": "image._patches",
    "fingerprint": "strings._fingerprint",
    "fftnd": "signal._fftnd_explicit",
    "ifftnd": "signal._fftnd_explicit",
    "irfftnd": "signal._fftnd_explicit",
    "parallel_stack": "_tensor.stitching",
    "ragged_fill_empty_rows": "_tensor.rare",
    "ragged_fill_empty_rows_grad": "_tensor.rare",
    "rfftnd": "signal._fftnd_explicit",
    "timestamp": "_tensor.rare",
    "eig": "linalg._eigen",
    "eigvals": "linalg._eigen",
    "executing_eagerly": "_graph.scopes",
    "function": "_functions.function",
    "get_current_name_scope": "_graph.scopes",
    "get_logger": "_graph.scopes",
    "guarantee_const": "_tensor.rare",
    "name_scope": "_graph.scopes",
    "init_scope": "_graph.scopes",
    "inside_function": "_graph.func_graph",
    "install_as_tensorflow": "_tensorflow.install",
    "control_dependencies": "_graph.scopes",
    "variable_creator_scope": "_graph.scopes",
    "batch_to_space": "nn._space_to_batch",
    "required_space_to_batch_paddings": "nn._space_to_batch",
    "space_to_batch": "nn._space_to_batch",
    "space_to_batch_nd": "nn._space_to_batch",
    "group": "_tensor.printing",
    "no_op": "_tensor.printing",
    "print": "_tensor.printing",
    "case": "_graph.control_flow",
    "cond": "_graph.control_flow",
    "foldl": "_graph.control_flow",
    "foldr": "_graph.control_flow",
    "make_ndarray": "_proto.tensors",
    "make_tensor_proto": "_proto.tensors",
    "map_fn": "_graph.control_flow",
    "numpy_function": "_graph.control_flow",
    "py_function": "_graph.control_flow",
    "scan": "_graph.control_flow",
    "switch_case": "_graph.control_flow",
    "type_spec_from_value": "_tensor.specs",
    "vectorized_map": "_graph.control_flow",
    "while_loop": "_graph.control_flow",
    "NoneTensorSpec": "data._elements",
    "RegisterGradient": "autodiff._registry",
    "no_gradient": "autodiff._registry",
}


_FACTS = {  # of the build, as TensorFlow names them
    "__compiler_version__": "version.COMPILER_VERSION",
    "__cxx11_abi_flag__": "sysconfig.CXX11_ABI_FLAG",
    "__cxx_version__": "sysconfig.CXX_VERSION",
    "__git_version__": "version.GIT_VERSION",
    "__monolithic_build__": "sysconfig.MONOLITHIC_BUILD",
}


def __getattr__(name):
    if name in _FACTS:
        module, _, fact = _FACTS[name].partition(".")
        return getattr(_importlib.import_module("tidemark." + module), fact)
    if name in _MODULES:
        return _importlib.import_module("tidemark." + name)
    home = _LAZY.get(name)
    if home is None:
        if name in ("initializers", "keras", "losses", "metrics", "optimizers"):
            return _importlib.import_module("tidemark._tensorflow.keras").load(name)
        if not name.startswith("_"):
            found = _importlib.import_module("tidemark._v1.names").find(name)
            if found is not None:
                return found
            return _refusing("tf")(name)
        raise AttributeError(f"module 'tidemark' has no attribute {name!r}")
    found = getattr(_importlib.import_module("tidemark." + home), name)
    found = _namespace("tf").get(name, found)  # in graphs the one that gives names
    globals()[name] = found
    return found


def __dir__():
    own = [name for name in globals() if not name.startswith("_") and name != "cli"]
    return sorted({*own, *_MODULES, *_LAZY, "__version__"})
