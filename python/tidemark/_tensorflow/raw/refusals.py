"""Operations of ``tf.raw_ops`` that Tidemark does not have, by families, each with the reason.

A family is a pattern that whole names match; the first that does gives the reason.
"""

from __future__ import annotations

import functools
import re

_OBJECTS = "datasets and iterators are objects here, no tensors of dtype variant: use tf.data"

_FAMILIES = (
    (r"(Block|GRUBlock|LSTMBlock)\w+", "cells are loops of ops here: use Keras's layers, or "
     "tf.compat.v1.nn.rnn_cell"),
    (r"Parse(Single)?(Sequence)?Example(V2)?", "examples are parsed by functions: use "
     "tf.io.parse_example and tf.io.parse_sequence_example"),
    (r"Dequantize|QuantizeV2|QuantizeAndDequantize(V4Grad)?",
     "there is no arithmetic of quantized numbers here"),
    (r"MaxPool(3D)?GradGrad(V2|WithArgmax)?|Fractional(Avg|Max)PoolGrad|MaxPoolGradWithArgmax",
     "gradients come from tapes: use tf.GradientTape"),
    (r"SparseCross\w*|RaggedCross", "crosses are made by functions: use tf.sparse.cross and "
     "tf.ragged.cross"),
    (r"Collective\w+|Nccl\w+|RemoteCall|Recv|Send|SyncDevice|DeviceIndex",
     "work over several devices goes through tf.distribute, not through operations"),
    (r"\w*(Dataset|Iterator|SeedGenerator|MemoryCache|ThreadPoolHandle|StatsAggregator)\w*"
     r"|GetOptions|CompressElement|UncompressElement|GetElementAtIndex|DistributedSave"
     r"|DummyIterationCounter|Optional(FromValue|GetValue|HasValue|None)|ComputeBatchSize",
     _OBJECTS),
    (r"\w*BoostedTrees\w+|Sdca\w+|KMC2\w+|Kmeans\w+|NearestNeighbors|LoadAndRemapMatrix"
     r"|GenerateVocabRemapping|Fact", "it served TensorFlow's estimators, which are gone"),
    (r"(Queue\w+|\w*(FIFO|RandomShuffle|Priority|Fake)Queue\w*|Barrier\w*|RecordInput)",
     "queues are objects here, no tensors of dtype resource: use tf.queue"),
    (r"(Ordered)?Map(Clear|IncompleteSize|Peek|Size|Stage|Unstage|UnstageNoKey)|(Uns|S)tage\w*",
     "staging areas are not here: use tf.data"),
    (r"Reader\w+|\w+Reader(V2)?", "readers are objects here: use tf.data"),
    (r"TensorArray\w*", "arrays of tensors are objects here, no resources: use tf.TensorArray"),
    (r"\w*Summary\w*|ImportEvent", "summaries are written by functions: use tf.summary"),
    (r"Quantized\w+|Requanti\w+|Uniform(Deq|Q|Req)uanti\w+|QuantizeDownAndShrinkRange",
     "there is no arithmetic of quantized numbers here"),
    (r"CSRSparseMatrix\w+|SparseMatrix(?!DenseMatMul)\w+|\w+CSRSparseMatrix",
     "sparse matrices of compressed rows are not tensors here: use tf.sparse"),
    (r"Debug\w+|CheckPinned", "TensorFlow's debugger is not here: see tidemark doctor"),
    (r"Ref\w+|Assign|AssignAdd|AssignSub|Variable|VariableV2|TemporaryVariable"
     r"|DestroyTemporaryVariable|(Sparse)?Apply\w+|Scatter(Nd)?(Add|Div|Max|Min|Mul|Sub|Update)"
     r"|CountUpTo|StridedSliceAssign|IsVariableInitialized|VarHandleOp|DestroyResourceOp",
     "variables are objects here: use tf.Variable, or tf.compat.v1's functions on variables"),
    (r"Enter|Exit|Merge|Switch|NextIteration|LoopCond|ControlTrigger|If|StatelessIf|While"
     r"|StatelessWhile|For|Case|StatelessCase|ToBool",
     "branches and loops are steps of graphs here: use tf.cond and tf.while_loop"),
    (r"(Stateful)?PartitionedCall|SymbolicGradient|MapDefun|FakeParam|BatchFunction|Batch|Unbatch"
     r"|UnbatchGrad", "functions are objects here: use tf.function"),
    (r"Placeholder(V2|WithDefault)?", "placeholders are made by tf.compat.v1.placeholder"),
    (r"(Get|Delete)Session\w+", "values of sessions are fetched, not kept by handles"),
    (r"Save|SaveSlices|SaveV2|Restore|RestoreSlice|RestoreV2|MergeV2Checkpoints",
     "checkpoints are written by objects: use tf.train.Checkpoint or tf.compat.v1.train.Saver"),
    (r"RaggedTensor(From|To)Variant\w*|CompositeTensorVariant\w+",
     "there are no tensors of dtype variant"),
    (r"(Deserialize|Serialize)Many?Sparse|AddMany\w+|AddSparse\w+|TakeMany\w+",
     "sparse tensors are not kept as tensors of bytes here"),
    (r"DecodeProtoV2|EncodeProto|DecodeJSONExample",
     "messages are read by the package protobuf, not by operations"),
    (r"DecodeWebP|DecodeJxl", "there is no decoder of this format"),
    (r"Copy|CopyHost|DeepCopy|Inplace\w+|Abort|ImmutableConst|FileSystemSetConfiguration"
     r"|ParallelConcat|DisableCopyOnRead|Rng\w+|\w*Stateful(StandardNormal|Trunc|Uniform|Random)\w*",
     "it works on memory or state that programs do not see here"),
)  # fmt: skip


@functools.cache
def _compiled():
    return [(re.compile(pattern), reason) for pattern, reason in _FAMILIES]


def is_here(name):
    """Whether an operation of a family that is not here is one that is."""
    from tidemark import raw_ops  # which asks this module for what it does not have

    return raw_ops.found(name) is not None


def reason(name):
    """Why an operation is not here; None if it is none of these."""
    return next((why for pattern, why in _compiled() if pattern.fullmatch(name)), None)


def stand_in(name):
    """What stands for an operation that is not here; None if there is none of the name."""
    from tidemark._tensorflow import unsupported  # which asks this module for reasons

    return None if reason(name) is None else unsupported.stand_in(f"tf.raw_ops.{name}")
