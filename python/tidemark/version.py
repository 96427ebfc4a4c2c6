"""``tf.version``: of TensorFlow, whose names and semantics these are, and of Tidemark itself."""

from __future__ import annotations

VERSION = "2.21.0"
GIT_VERSION = "unknown"
COMPILER_VERSION = "unknown"
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0


def __getattr__(name):
    if name == "TIDEMARK":
        from importlib import metadata  # loaded on first use

        try:
            return metadata.version("tidemark")
        except metadata.PackageNotFoundError:
            return "not installed as a package"
    raise AttributeError(f"module 'tidemark.version' has no attribute {name!r}")
