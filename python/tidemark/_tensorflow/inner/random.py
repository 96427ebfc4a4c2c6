"""``tensorflow.python.ops.distributions.util``: seeds from seeds."""

from __future__ import annotations

import hashlib


def gen_new_seed(seed, salt):
    """A seed that a seed and a text determine."""
    if seed is None:
        return None
    text = (str(seed) + salt).encode("utf-8")
    return int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF
