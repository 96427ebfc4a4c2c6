"""``tf.fingerprint``: eight bytes for each row of a tensor, by FarmHash."""

from __future__ import annotations

import numpy as np

from tidemark import dtypes
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError

_LOW = 1 << 62


def _fingerprints(strings):
    """The FarmHash fingerprints of byte strings, as numbers of 64 bits.

    The op gives them modulo a number: modulo 2^62 it tells all but the two highest bits, and
    modulo 2^62 - 1 what those add to the rest.
    """
    low, sums = (
        call("string_to_hash_bucket_fast", (convert_to_tensor(strings),), {"num_buckets": n})
        .numpy()
        .astype(np.uint64)
        for n in (_LOW, _LOW - 1)
    )
    high = (sums + np.uint64(_LOW - 1) - low % np.uint64(_LOW - 1)) % np.uint64(_LOW - 1)
    return high * np.uint64(_LOW) + low


def _as_bytes(numbers):
    return numbers.astype("<u8").view(np.uint8).reshape(-1, 8)


@sized_when_run
def fingerprint(data, method="farmhash64", name=None):
    """A row of eight bytes for each row of the data."""
    if method != "farmhash64":
        raise ValueError(f"Unsupported fingerprint method: {method!r}; there is 'farmhash64'")
    data = convert_to_tensor(data)
    if data.ndim == 0:
        raise InvalidArgumentError(None, None, "`data` should have at least one dimension")
    array = data.numpy()
    count = array.shape[0]
    if data.dtype == dtypes.string:
        numbers = _fingerprints(array.reshape(-1).tolist() or [b""])[: array.size]
        if array.ndim == 1:
            return convert_to_tensor(_as_bytes(numbers))
        array = numbers.astype("<u8").reshape(count, -1)
    rows = [np.ascontiguousarray(row).tobytes() for row in array]
    return convert_to_tensor(_as_bytes(_fingerprints(rows or [b""])[:count]))
