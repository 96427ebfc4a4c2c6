"""The distribution ``tensorflow`` for ``importlib.metadata``, where Tidemark stands in its place.

A real one that is installed is left to answer for itself.
"""

from __future__ import annotations

import importlib.metadata
import re

NAME = "tensorflow"


class Distribution(importlib.metadata.Distribution):
    """Says which version of TensorFlow is spoken here, and that it is Tidemark."""

    def read_text(self, filename):
        if filename not in ("METADATA", "PKG-INFO"):
            return None
        import tidemark  # it imports this package

        return (
            f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {tidemark.__version__}\n"
            f"Summary: Tidemark {tidemark.version.TIDEMARK} in TensorFlow's place\n"
        )

    def locate_file(self, path):
        import tidemark  # it imports this package

        return importlib.metadata.pathlib.Path(tidemark.__file__).parent / path


def distributions(context):
    """The distribution, if it is asked for and no real one is installed."""
    asked = context.name
    if asked is not None and re.sub(r"[-_.]+", "-", asked).lower() != NAME:
        return []
    real = importlib.metadata.DistributionFinder.Context(name=NAME)
    if any(True for _ in importlib.metadata.MetadataPathFinder.find_distributions(real)):
        return []
    return [Distribution()]
