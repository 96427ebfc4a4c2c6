"""Seeds: numbers from whatever is given, from each other, from nowhere."""

from __future__ import annotations

import hashlib
import os
import random

DEFAULT_SEED = 87654321  # TensorFlow's, where only an operation has one
_MOST = 2**31 - 1
_program = {"seed": None, "operations": None}


def remember_seed(seed):
    """The program's seed; operations without one of their own draw theirs from it."""
    _program.update(seed=seed, operations=random.Random(seed))


def seeds_for_operation(seed):
    """The two seeds that TensorFlow makes of the program's and an operation's; None: no seed."""
    first, operations = _program["seed"], _program["operations"]
    if first is None:
        if seed is None:
            return None, None
        first = DEFAULT_SEED
    elif seed is None:
        seed = operations.randint(0, _MOST)
    return kept_small(first, seed)


def kept_small(first, seed):
    """Both seeds as TensorFlow keeps them: below 2^31 - 1, and not both 0, which means none."""
    first, seed = first % _MOST, seed % _MOST
    return (first, seed) if (first, seed) != (0, 0) else (0, _MOST)


seed_of_draw = None  # makes the op seed of operations in graphs of sessions; set beside such graphs


def fresh_seed():
    """A seed nobody can foretell."""
    raw = os.urandom(16)
    return [int.from_bytes(raw[i : i + 8], "little", signed=True) for i in (0, 8)]


def as_int64(value):
    """Any whole number as a signed 64-bit one; anything else by a hash of how it prints."""
    try:
        number = int(value)
    except (TypeError, ValueError):
        digest = hashlib.blake2b(repr(value).encode(), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
    return (number + 2**63) % 2**64 - 2**63


def mixed(a, b):
    """A signed 64-bit number that depends on both."""
    data = a.to_bytes(8, "little", signed=True) + b.to_bytes(8, "little", signed=True)
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little", signed=True)
