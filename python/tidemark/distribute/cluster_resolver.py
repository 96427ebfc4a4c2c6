"""``tf.distribute.cluster_resolver``: which processes there are."""

from __future__ import annotations

from tidemark._tensorflow import unsupported as _unsupported
from tidemark.distribute._cluster import (
    ClusterResolver,
    MPIClusterResolver,
    SimpleClusterResolver,
    SlurmClusterResolver,
    TFConfigClusterResolver,
)

__all__ = [
    "ClusterResolver",
    "MPIClusterResolver",
    "SimpleClusterResolver",
    "SlurmClusterResolver",
    "TFConfigClusterResolver",
]

globals().update(_unsupported.names_under("tf.distribute.cluster_resolver"))
