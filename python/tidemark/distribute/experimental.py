"""``tf.distribute.experimental``: older names of strategies."""

from __future__ import annotations

from tidemark._tensorflow import unsupported as _unsupported
from tidemark.distribute._strategy import CentralStorageStrategy
from tidemark.distribute._workers import (
    CommunicationImplementation,
    CommunicationOptions,
    MultiWorkerMirroredStrategy,
)

CollectiveCommunication = CommunicationImplementation

globals().update(_unsupported.names_under("tf.distribute.experimental"))
coordinator = _unsupported.module_of("tf.distribute.experimental.coordinator")
partitioners = _unsupported.module_of("tf.distribute.experimental.partitioners")
rpc = _unsupported.module_of("tf.distribute.experimental.rpc")
