"""``tf.config.threading``: how many threads compute."""

from __future__ import annotations

from tidemark import _tidemark

_asked = {"inter": 0, "intra": 0}  # 0: the runtime decides


def get_inter_op_parallelism_threads():
    """What was asked for; 0 means that the runtime decides."""
    return _asked["inter"]


def get_intra_op_parallelism_threads():
    """What was asked for; 0 means that the runtime decides."""
    return _asked["intra"]


def set_inter_op_parallelism_threads(num_threads):
    """Noted only: one thread pool serves all ops, and its size is the intra-op one."""
    _asked["inter"] = _checked(num_threads)


def set_intra_op_parallelism_threads(num_threads):
    """Sets how many threads one op may use; 0 gives the choice back to the runtime."""
    _asked["intra"] = _checked(num_threads)
    _tidemark.set_num_threads(_asked["intra"])


def _checked(num_threads):
    count = int(num_threads)
    if count < 0:
        raise ValueError(f"a number of threads is 0 (decide yourself) or more, got {num_threads}")
    return count
