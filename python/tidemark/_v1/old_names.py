"""Names that TensorFlow 2 moved elsewhere: what TensorFlow 1 called ``tf.log`` is ``tf.math.log``.

At the top level they are found where TensorFlow 2 has nothing of that name.
"""

from __future__ import annotations

import importlib

# old name → new name without "tf."
MOVED = {
    **{
        name: f"math.{name}"
        # op names: functions that TensorFlow moved.
        for name in (
            "angle", "betainc", "bincount", "ceil", "conj", "count_nonzero", "digamma", "erf",
            "erfc", "igamma", "igammac", "imag", "invert_permutation", "is_finite", "is_inf",
            "is_nan", "is_non_decreasing", "is_strictly_increasing", "lbeta", "lgamma", "log",
            "log1p", "log_sigmoid", "logical_xor", "polygamma", "real", "reciprocal", "rint",
            "rsqrt", "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum",
            "squared_difference", "unsorted_segment_max", "unsorted_segment_mean",
            "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sqrt_n",
            "unsorted_segment_sum", "zeta", "confusion_matrix", "accumulate_n", "expm1",
            "floormod", "xdivy", "xlogy", "cumulative_logsumexp", "polyval", "reduce_logsumexp",
        )
    },
    **{
        name: f"linalg.{name}"
        for name in ("cholesky", "cholesky_solve", "cross", "qr", "svd", "trace", "tensordot",
                     "norm")
    },
    **{
        f"matrix_{name}": f"linalg.{new}"
        for name, new in {
            "band_part": "band_part", "determinant": "det", "diag": "diag",
            "diag_part": "diag_part", "inverse": "inv", "set_diag": "set_diag", "solve": "solve",
            "solve_ls": "lstsq", "square_root": "sqrtm", "transpose": "matrix_transpose",
            "triangular_solve": "triangular_solve",
        }.items()
    },
    "self_adjoint_eig": "linalg.eigh",
    "self_adjoint_eigvals": "linalg.eigvalsh",
    "diag": "linalg.tensor_diag",
    "diag_part": "linalg.tensor_diag_part",
    "global_norm": "linalg.global_norm",
    "fft": "signal.fft", "ifft": "signal.ifft", "fft2d": "signal.fft2d",
    "ifft2d": "signal.ifft2d", "fft3d": "signal.fft3d", "ifft3d": "signal.ifft3d",
    "depth_to_space": "nn.depth_to_space", "space_to_depth": "nn.space_to_depth",
    "lin_space": "linspace", "floor_div": "math.floordiv", "realdiv": "divide",
    "truncatediv": "truncatediv", "truncatemod": "truncatemod", "mod": "math.floormod",
    "random_shuffle": "random.shuffle", "random_gamma": "random.gamma",
    "random_poisson": "compat.v1.random.poisson", "random_crop": "image.random_crop",
    "reverse_v2": "reverse", "where_v2": "where", "batch_to_space_nd": "batch_to_space",
    "is_symbolic_tensor": "is_symbolic_tensor", "batch_gather": "gather",
    "tensor_scatter_add": "tensor_scatter_nd_add", "tensor_scatter_sub": "tensor_scatter_nd_sub",
    "tensor_scatter_update": "tensor_scatter_nd_update",
    "check_numerics": "debugging.check_numerics", "assert_type": "debugging.assert_type",
    **{
        f"assert_{name}": f"debugging.assert_{name}"
        for name in ("greater_equal", "integer", "less_equal", "near", "negative",
                     "non_negative", "non_positive", "none_equal", "positive",
                     "proper_iterable", "rank_at_least", "rank_in", "same_float_dtype", "scalar")
    },
    "is_numeric_tensor": "debugging.is_numeric_tensor",
    "NoGradient": "no_gradient", "NotDifferentiable": "no_gradient",
    "serialize_sparse": "io.serialize_sparse", "no_gradient": "no_gradient",
    "serialize_many_sparse": "io.serialize_many_sparse",
    "deserialize_many_sparse": "io.deserialize_many_sparse",
    "decode_base64": "io.decode_base64", "encode_base64": "io.encode_base64",
    "decode_csv": "io.decode_csv", "decode_raw": "io.decode_raw", "read_file": "io.read_file",
    "write_file": "io.write_file", "matching_files": "io.matching_files",
    "parse_example": "io.parse_example", "parse_single_example": "io.parse_single_example",
    "parse_tensor": "io.parse_tensor", "serialize_tensor": "io.serialize_tensor",
    "FixedLenFeature": "io.FixedLenFeature", "VarLenFeature": "io.VarLenFeature",
    "SparseFeature": "io.SparseFeature", "FixedLenSequenceFeature": "io.FixedLenSequenceFeature",
    **{name: f"compat.v1.{name}" for name in ("app", "flags", "gfile", "logging", "python_io")},
    "regex_replace": "strings.regex_replace", "reduce_join": "compat.v1.strings.reduce_join",
    "string_join": "strings.join", "string_split": "compat.v1.strings.string_split",
    "string_strip": "strings.strip", "substr": "compat.v1.strings.substr",
    "string_to_hash_bucket_fast": "strings.to_hash_bucket_fast",
    "string_to_hash_bucket_strong": "strings.to_hash_bucket_strong",
    "string_to_number": "compat.v1.strings.to_number",
    "sparse_add": "sparse.add", "sparse_mask": "sparse.mask", "sparse_maximum": "sparse.maximum",
    "sparse_minimum": "sparse.minimum", "sparse_reorder": "sparse.reorder",
    "sparse_reset_shape": "sparse.reset_shape", "sparse_reshape": "sparse.reshape",
    "sparse_retain": "sparse.retain", "sparse_slice": "sparse.slice",
    "sparse_softmax": "sparse.softmax", "sparse_transpose": "sparse.transpose",
    "sparse_reduce_sum": "sparse.reduce_sum", "sparse_reduce_max": "sparse.reduce_max",
    "sparse_tensor_dense_matmul": "sparse.sparse_dense_matmul",
    "sparse_tensor_to_dense": "sparse.to_dense", "sparse_to_indicator": "sparse.to_indicator",
    "sparse_fill_empty_rows": "sparse.fill_empty_rows", "sparse_split": "sparse.split",
    "sparse_segment_mean": "sparse.segment_mean", "sparse_segment_sum": "sparse.segment_sum",
    "sparse_segment_sqrt_n": "sparse.segment_sqrt_n",
    "sparse_merge": "compat.v1.sparse.merge", "sparse_matmul": "compat.v1.sparse.matmul",
    "sparse_reduce_sum_sparse": "compat.v1.sparse.reduce_sum_sparse",
    "sparse_reduce_max_sparse": "compat.v1.sparse.reduce_max_sparse",
    **{
        name: f"_v1.train.inputs.{name}"
        for name in ("FixedLengthRecordReader", "IdentityReader", "ReaderBase", "TFRecordReader",
                     "TextLineReader", "WholeFileReader")
    },
    "FIFOQueue": "_v1.train.queues.FIFOQueue", "QueueBase": "_v1.train.queues.QueueBase",
    "RandomShuffleQueue": "_v1.train.queues.RandomShuffleQueue",
    "VERSION": "version.VERSION", "GIT_VERSION": "version.GIT_VERSION",
    "COMPILER_VERSION": "version.COMPILER_VERSION",
    "GRAPH_DEF_VERSION": "version.GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER": "version.GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER": "version.GRAPH_DEF_VERSION_MIN_PRODUCER",
    "CXX11_ABI_FLAG": "sysconfig.CXX11_ABI_FLAG", "CXX_VERSION": "sysconfig.CXX_VERSION",
    "MONOLITHIC_BUILD": "sysconfig.MONOLITHIC_BUILD", "OpError": "errors.OpError",
    "all_variables": "compat.v1.global_variables", "get_seed": "compat.v1.random.get_seed",
    "initialize_local_variables": "compat.v1.local_variables_initializer",
    "cumprod": "math.cumprod", "div_no_nan": "math.divide_no_nan", "floordiv": "math.floordiv",
    "dimension_value": "compat.dimension_value",
    "dimension_at_index": "compat.dimension_at_index",
    "decode_compressed": "io.decode_compressed", "decode_json_example": "io.decode_json_example",
    "parse_single_sequence_example": "io.parse_single_sequence_example",
    "extract_image_patches": "compat.v1.image.extract_image_patches",
    **{
        f"fake_quant_with_min_max_{name}": f"quantization.fake_quant_with_min_max_{name}"
        for name in ("args", "args_gradient", "vars", "vars_gradient", "vars_per_channel",
                     "vars_per_channel_gradient")
    },
    "layers": "_v1.layers", "losses": "_v1.losses", "metrics": "_v1.metrics",
}  # fmt: skip


def find(name):
    """What an old name stands for; None."""
    new = MOVED.get(name)
    if new is None:
        return None
    found = importlib.import_module("tidemark")
    path = "tidemark"
    for part in new.split("."):
        path += "." + part
        inner = getattr(found, part, None)
        if inner is None and part.startswith("_") or path.startswith("tidemark._v1."):
            try:
                inner = importlib.import_module(path)
            except ImportError:
                inner = getattr(found, part, None)
        if inner is None:
            return None
        found = inner
    return found
