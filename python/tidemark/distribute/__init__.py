"""``tf.distribute``: strategies: on one device, and over several workers.

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    v = tf.Variable(1.0)
strategy.reduce("SUM", strategy.run(lambda: v + 1.0), axis=None)
"""

from __future__ import annotations

from tidemark._tensorflow import unsupported as _unsupported
from tidemark.distribute import cluster_resolver, experimental
from tidemark.distribute._replica import (
    CrossDeviceOps,
    HierarchicalCopyAllReduce,
    InputContext,
    InputOptions,
    InputReplicationMode,
    NcclAllReduce,
    ReduceOp,
    ReductionToOneDevice,
    ReplicaContext,
    RunOptions,
)
from tidemark.distribute._strategy import (
    MirroredStrategy,
    OneDeviceStrategy,
    Strategy,
    StrategyExtended,
    experimental_set_strategy,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from tidemark.distribute._values import DistributedValues
from tidemark.distribute._worker_input import DistributedDataset, DistributedIterator
from tidemark.distribute._workers import MultiWorkerMirroredStrategy

globals().update(_unsupported.names_under("tf.distribute"))
coordinator = _unsupported.module_of("tf.distribute.coordinator")
