"""Names of TensorFlow that are known here and not supported, each with the reason.

Asking for one gives something that can be named, compared with ``isinstance`` and subclassed, and
that raises ``tf.errors.UnimplementedError`` with the reason when it is used; ``NotFoundError``
where TensorFlow itself has kernels on some devices alone. The table is also
what docs/compatibility.md tells about them.
"""

from __future__ import annotations

import sys
import types

from tidemark.errors import NotFoundError, UnimplementedError

_CONVERTER = "Tidemark writes no TensorFlow Lite models; convert them with TensorFlow"
_TPU = "there is no TPU backend"
_WORKERS = "training over several machines is not part of Tidemark yet"
_DTENSOR = "tensors spread over several devices are not part of Tidemark"
_CUDNN = "no device has a kernel for it; Keras uses its own loop"

# name → the reason
UNSUPPORTED = {
    "tf.lite.Interpreter": _CONVERTER,
    "tf.lite.OpsSet": _CONVERTER,
    "tf.lite.Optimize": _CONVERTER,
    "tf.lite.RepresentativeDataset": _CONVERTER,
    "tf.lite.TFLiteConverter": _CONVERTER,
    "tf.lite.TargetSpec": _CONVERTER,
    "tf.tpu.XLAOptions": _TPU,
    "tf.tpu.experimental.initialize_tpu_system": _TPU,
    "tf.tpu.experimental.shutdown_tpu_system": _TPU,
    "tf.tpu.experimental.Topology": _TPU,
    "tf.distribute.TPUStrategy": _TPU,
    "tf.distribute.experimental.TPUStrategy": _TPU,
    "tf.distribute.cluster_resolver.TPUClusterResolver": _TPU,
    "tf.distribute.MultiWorkerMirroredStrategy": _WORKERS,
    "tf.distribute.ParameterServerStrategy": _WORKERS,
    "tf.distribute.experimental.MultiWorkerMirroredStrategy": _WORKERS,
    "tf.distribute.experimental.ParameterServerStrategy": _WORKERS,
    "tf.distribute.cluster_resolver.TFConfigClusterResolver": _WORKERS,
    "tf.distribute.DistributedDataset": _WORKERS,
    "tf.distribute.DistributedIterator": _WORKERS,
    "tf.distribute.coordinator.ClusterCoordinator": _WORKERS,
    "tf.distribute.coordinator.PerWorkerValue": _WORKERS,
    "tf.distribute.coordinator.RemoteValue": _WORKERS,
    "tf.distribute.experimental.coordinator.ClusterCoordinator": _WORKERS,
    "tf.distribute.experimental.coordinator.PerWorkerValues": _WORKERS,
    "tf.distribute.experimental.coordinator.RemoteValue": _WORKERS,
    "tf.distribute.experimental.PreemptionCheckpointHandler": _WORKERS,
    "tf.distribute.experimental.TerminationConfig": _WORKERS,
    "tf.distribute.Server": _WORKERS,
    "tf.config.experimental_connect_to_cluster": _WORKERS,
    "tf.config.experimental_connect_to_host": _WORKERS,
    "tf.raw_ops.CudnnRNN": _CUDNN,
    "tf.raw_ops.CudnnRNNV3": _CUDNN,
    **{
        f"tf.tpu.experimental.embedding.{name}": _TPU
        for name in (
            "Adagrad", "AdagradMomentum", "Adam", "CustomCombiner", "CustomOptimizer", "FTRL",
            "FeatureConfig", "QuantizationConfig", "RowIdInitializer", "SGD",
            "SparseCoreEmbeddingConfig", "TPUEmbedding", "TPUEmbeddingForServing",
            "TPUEmbeddingV0", "TPUEmbeddingV2", "TableConfig", "serving_embedding_lookup",
        )
    },
    **{
        f"tf.tpu.experimental.{name}": _TPU
        for name in ("DeviceAssignment", "DeviceOrderMode", "HardwareFeature", "TPUSystemMetadata")
    },
    **{
        f"tf.experimental.dtensor.{name}": _DTENSOR
        for name in (
            "DTensorCheckpoint", "DTensorDataset", "DVariable", "Layout", "MATCH", "Mesh",
            "UNSHARDED", "call_with_layout", "copy_to_mesh", "create_distributed_mesh",
            "create_mesh", "fetch_layout", "initialize_accelerator_system", "pack", "relayout",
            "unpack",
        )
    },
}  # fmt: skip


# What packages name when they are imported, inside of unsupported classes.
_FEATURE = "tf.tpu.experimental.HardwareFeature.EmbeddingFeature"
_INSIDE_CLASSES = (_FEATURE, *(f"{_FEATURE}.{name}" for name in ("UNSUPPORTED", "V1", "V2")))


class _Raising(type):
    """The type of what stands for an unsupported name: using it says why it is not there."""

    def __call__(cls, *args, **kwargs):
        raise unimplemented(cls.__tf_names__[0])

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{cls.__tf_names__[0]}.{name}"
        if full in _INSIDE_CLASSES:
            return stand_in(full)
        raise unimplemented(full)


def unimplemented(name):
    """The error that using an unsupported name raises."""
    known = name
    while known not in UNSUPPORTED and "." in known:
        known = known.rpartition(".")[0]
    reason = UNSUPPORTED.get(known, "Tidemark does not have it")
    # As TensorFlow where no device has a kernel: who asks for one knows another way.
    kind = NotFoundError if reason is _CUDNN else UnimplementedError
    return kind(None, None, f"{name} is not supported: {reason}.")


def stand_in(name):
    """What an unsupported name resolves to."""
    space, _, last = name.rpartition(".")
    module = "tidemark" + space[2:]
    return _Raising(last, (), {"__tf_names__": (name,), "__module__": module})


def names_under(space):
    """The unsupported names of a namespace: last part → stand-in."""
    found = {}
    for name in UNSUPPORTED:
        where, _, last = name.rpartition(".")
        if where == space:
            found[last] = stand_in(name)
    return found


def module_of(space):
    """A module of unsupported names alone, such as ``tf.lite``; None if there is none."""
    if not any(name.startswith(space + ".") for name in UNSUPPORTED):
        return None
    module = types.ModuleType("tidemark" + space[2:], f"``{space}``: nothing of it is supported.")
    module.__dict__.update(names_under(space))
    for name in UNSUPPORTED:
        rest = name[len(space) + 1 :] if name.startswith(space + ".") else ""
        if "." in rest:
            inner = rest.partition(".")[0]
            setattr(module, inner, module_of(f"{space}.{inner}"))
    sys.modules[module.__name__] = module
    return module
