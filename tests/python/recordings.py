"""Recordings made up by the million, for tests and benchmarks."""

import struct

import numpy as np

EVENT = np.dtype(
    [("time", "<u8"), ("id", "<u8"), ("value", "<u8"), ("place", "<u4"), ("op", "<u2"),
     ("kind", "u1"), ("holder", "u1")]
)  # fmt: skip
ALLOCATE, FREE, OP = 2, 3, 5


def write(path, rounds, lines=40):
    """``rounds`` × 10 events: a step of a program that keeps one small tensor each time."""
    with open(path, "wb") as file:
        file.write(b"TIDEMARK" + struct.pack("<IIqqqQQQ", 1, 64, 0, 1, 1 << 34, 0, 0, 0))
        for number in range(1, lines + 1):
            _name(file, 0, number, f"train.py:{number} in step")
        _name(file, 1, 1, "matmul")
        done = 0
        while done < rounds:
            count = min(50000, rounds - done)
            events = _events(done, count, lines)
            file.write(struct.pack("<II", 1, events.nbytes))
            file.write(events.tobytes())
            done += count
        file.write(struct.pack("<IIQQ", 3, 16, 10 * rounds, 0))


def _name(file, table, number, text):
    data = struct.pack("<II", table, number) + text.encode()
    file.write(struct.pack("<II", 2, len(data)) + data)


def _events(first, count, lines):
    rounds = np.arange(first, first + count, dtype=np.uint64)
    out = np.zeros((count, 10), EVENT)
    out["time"] = rounds[:, None] * 10000 + np.arange(10, dtype=np.uint64) * 1000
    out["place"] = 1 + (np.arange(10) * 4) % lines
    out["op"] = 1
    for at, buffer in ((0, 0), (2, 1), (4, 2)):  # intermediates, freed at the end of the round
        out["kind"][:, at] = ALLOCATE
        out["id"][:, at] = 64 + buffer
        out["value"][:, at] = 100000 * (buffer + 1)
        out["kind"][:, 7 + buffer] = FREE
        out["id"][:, 7 + buffer] = 64 + buffer
    for at in (1, 3, 5):
        out["kind"][:, at] = OP
        out["id"][:, at] = 1
        out["value"][:, at] = 800
    kept = rounds % 100 == 0
    out["kind"][:, 6] = np.where(kept, ALLOCATE, OP)
    out["id"][:, 6] = np.where(kept, 1000 + rounds * 64, 1)
    out["value"][:, 6] = np.where(kept, 256, 500)
    return out.reshape(-1)
