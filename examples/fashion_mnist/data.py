"""Fashion-MNIST, 70,000 pictures of clothes, as Debian's dataset-fashion-mnist installs it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ.get("FASHION_MNIST", "/usr/share/datasets/fashion-mnist"))


def load(part, count=None):
    """(pictures, labels) of the part "train" or "t10k": uint8 [n, 28, 28, 1] and int32 [n]."""
    pictures = _read(f"{part}-images-idx3-ubyte.gz", 3)
    labels = _read(f"{part}-labels-idx1-ubyte.gz", 1)
    return pictures[:count, ..., np.newaxis], labels[:count].astype(np.int32)


def _read(name, rank):
    """An array in the IDX format: four bytes that say the rank, the sizes, the values."""
    path = FOLDER / name
    if not path.exists():
        raise SystemExit(
            f"{path} is missing: install Debian's package dataset-fashion-mnist, or set "
            "FASHION_MNIST to a folder that holds the four files"
        )
    with gzip.open(path) as file:
        data = file.read()
    head = 4 + 4 * rank
    sizes = np.frombuffer(data[4:head].ljust(4 * rank, b"\0"), ">i4")
    if data[:4] != bytes((0, 0, 8, rank)) or len(data) != head + sizes.prod():
        raise SystemExit(f"{path} is not a whole file of bytes in {rank} dimensions")
    return np.frombuffer(data, np.uint8, offset=head).reshape(sizes)
