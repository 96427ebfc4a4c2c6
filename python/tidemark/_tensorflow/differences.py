"""What differs from TensorFlow, and why whole parts of it are missing.

One place for what docs/compatibility.md says beyond what the package itself shows. A name that is
known but not supported stands, with its reason, in ``unsupported``.
"""

from __future__ import annotations

# name → what is different. Everything else is meant to behave as TensorFlow 2.21 does.
DIFFERENCES = {
    "tf.cast": "a string raises InvalidArgumentError, not UnimplementedError",
    "tf.config.experimental.get_memory_info": "works on the CPU, too",
    "tf.device": "there is the CPU alone; other devices are replaced by it unless soft placement "
    "is switched off",
    "tf.distribute.MirroredStrategy": "over one device",
    "tf.experimental.numpy.experimental_enable_numpy_behavior": "adds the methods; "
    "mixed dtypes promote without it",
    "tf.gather_nd": "an index out of range is always an error; no bad_indices_policy",
    "tf.linalg.matmul": "output_type casts the factors, not their product",
    "tf.matmul": "output_type casts the factors, not their product",
    "tf.profiler.experimental.stop": "writes Chrome's trace format, which Perfetto reads",
    "tf.reverse_sequence": "seq_axis has to be given",
    "tf.tensor_scatter_nd_update": "takes a bad_indices_policy, too",
    "tf.math.add": "mixed dtypes promote, as in NumPy; tidemark.experimental."
    "set_dtype_promotion(False) refuses them as TensorFlow does; so for all functions of several "
    "tensors",
}

# module → why names of it are missing; for modules inside of it as well.
MISSING = {
    "tf": "not written yet",
    "tf.compat.v1": "graphs, sessions, layers, losses, metrics, optimizers, savers and queues are "
    "here; readers of files, GraphDefs and summaries are not written yet",
    "tf.data": "not written yet; the pipelines themselves are here",
    "tf.distribute": "there is one device and one process",
    "tf.experimental.dtensor": "tensors spread over several devices are not part of Tidemark",
    "tf.experimental.numpy": "what libraries use of it is here",
    "tf.experimental.tensorrt": "there is no TensorRT here",
    "tf.feature_column": "deprecated; Keras's preprocessing layers take its place",
    "tf.graph_util": "deprecated",
    "tf.lite": "Tidemark writes no TensorFlow Lite models",
    "tf.mlir": "graphs are not MLIR here",
    "tf.profiler": "there is no profiling service",
    "tf.quantization": "not written yet",
    "tf.queue": "queues of TensorFlow 1; use tf.data",
    "tf.raw_ops": "ops under TensorFlow's inner names; those that libraries call are here",
    "tf.test": "not written yet",
    "tf.tpu": "there is no TPU backend",
    "tf.train": "messages of TensorFlow's own formats",
    "tf.types": "names for annotations",
    "tf.xla": "there is no XLA here",
}
