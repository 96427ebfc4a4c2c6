"""The counters behind random numbers without a seed of their own."""

from __future__ import annotations

import hashlib
import os
import threading

_DEFAULT_SEED = 87654321  # TensorFlow's, for ops with a seed while the program gave none
_MOST_SEEDS = 4096


def fresh_seed():
    """A seed nobody can foretell."""
    raw = os.urandom(16)
    return [int.from_bytes(raw[:8], "little", signed=True),
            int.from_bytes(raw[8:], "little", signed=True)]  # fmt: skip


def as_int64(value):
    """Any whole number as a signed 64-bit one; anything else by a hash of how it prints."""
    try:
        number = int(value)
    except (TypeError, ValueError):
        digest = hashlib.blake2b(repr(value).encode(), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
    return (number + 2**63) % 2**64 - 2**63


class GlobalState:
    """What ``tf.random.set_seed`` set, and how many draws were made since."""

    def __init__(self):
        self._lock = threading.Lock()
        self._seed = None
        self._draws = 0
        self._draws_of = {}  # op seed → draws made with it

    def set_seed(self, seed):
        with self._lock:
            self._seed = None if seed is None else as_int64(seed)
            self._draws = 0
            self._draws_of.clear()

    def next_seed(self, op_seed=None):
        """The seed of the next draw. With a seed set, the n-th draw of every run is the same."""
        with self._lock:
            if op_seed is None and self._seed is None:
                return fresh_seed()
            if op_seed is None:
                self._draws += 1
                return [self._seed, self._draws]
            # The n-th draw with this seed; the one longest unused is forgotten, and starts again.
            op_seed = as_int64(op_seed)
            count = self._draws_of.pop(op_seed, 0)
            self._draws_of[op_seed] = count + 1
            if len(self._draws_of) > _MOST_SEEDS:
                self._draws_of.pop(next(iter(self._draws_of)))
            base = _DEFAULT_SEED if self._seed is None else self._seed
            return [mixed(base, op_seed), -1 - count]


def mixed(a, b):
    """A signed 64-bit number that depends on both."""
    data = a.to_bytes(8, "little", signed=True) + b.to_bytes(8, "little", signed=True)
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little", signed=True)


GLOBAL = GlobalState()
