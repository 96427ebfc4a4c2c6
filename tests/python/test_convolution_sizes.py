"""A convolution over ever new image sizes leaves nothing behind."""

import sys
from pathlib import Path

import pytest

import tidemark as tf

sys.path.append(str(Path(__file__).parents[2] / "bench"))
from timing import resident_bytes


@pytest.mark.slow
def test_resident_memory_is_flat_over_2000_sizes():
    sizes = [(64, 64)] + [(20 + i * 7 % 45, 20 + i * 13 // 45 % 45) for i in range(2000)]
    filters = tf.random.normal([3, 3, 16, 16])
    samples = []
    for i, (height, width) in enumerate(sizes):
        tf.nn.conv2d(tf.ones([1, height, width, 16]), filters, 1, "SAME")
        if i >= 50 and i % 50 == 0:
            samples.append(resident_bytes())
    # The library's own heap settles over the first few hundred sizes, by how much depends on their
    # order (0.7 to 1.8 MiB were measured); after that nothing may be left behind.
    settled = samples[5:]
    assert max(samples) - samples[0] < 2.5 * 2**20
    assert max(settled) - min(settled) < 1.25 * 2**20
