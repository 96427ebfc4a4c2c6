"""A checkpoint of 1 GiB in 64 variables, saved and restored, against writing and reading as many
bytes without any form, and against TensorFlow.

Saving is held against a loop of ``write`` over the same memory with one ``fsync`` at the end, on
the same disk; restoring against reading the bytes into memory, from the disk and from pages that
the system still has. What both took beyond the model is the largest resident memory less that
before.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time

from case import Case, InPython, Row

VARIABLES, SIZE = 64, 4 << 20  # floats each
PIECE = 1 << 20


def _count(options):
    return options.pick(VARIABLES, 4)


def _resident_peak():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024


def _forget_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _forget_pages(folder):
    """Files are read from the disk again."""
    os.sync()
    for name in os.listdir(folder):
        file = os.open(os.path.join(folder, name), os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def _timed(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _measured(tf, options):
    import numpy as np

    def made(seed):
        fill = np.random.default_rng(seed)
        return [
            tf.Variable(fill.random(SIZE, np.float32), name=f"v{i}") for i in range(_count(options))
        ]

    def peak_of(work):
        _forget_peak()
        before = _resident_peak()
        seconds = _timed(work)
        return seconds, (_resident_peak() - before) / 2**20

    variables = made(0)
    whole = float(sum(float(tf.reduce_sum(v)) for v in variables))
    checkpoint = tf.train.Checkpoint(variables=variables)
    folder = tempfile.mkdtemp()
    try:
        prefix = os.path.join(folder, "model")
        os.sync()
        saved, save_mib = peak_of(lambda: checkpoint.write(prefix))
        for variable in variables:
            variable.assign(tf.zeros_like(variable))
        _forget_pages(folder)
        from_disk = _timed(lambda: checkpoint.read(prefix).assert_consumed())
        restored, restore_mib = peak_of(lambda: checkpoint.read(prefix).assert_consumed())
        if float(sum(float(tf.reduce_sum(v)) for v in variables)) != whole:
            raise AssertionError("other values came back")
    finally:
        shutil.rmtree(folder)
    return {
        "save": saved,
        "from_disk": from_disk,
        "restore": restored,
        "save_mib": save_mib,
        "restore_mib": restore_mib,
    }


def tidemark(options):
    import tidemark as tf

    return _measured(tf, options)


def tensorflow(options):
    import tensorflow as tf

    return _measured(tf, options)


def plain(options):
    """The same bytes without form: written and flushed, read into memory that is there."""
    import numpy as np

    fill = np.random.default_rng(0)
    arrays = [fill.random(SIZE, np.float32) for _ in range(_count(options))]
    pieces = [
        memoryview(array).cast("B")[at : at + PIECE]
        for array in arrays
        for at in range(0, array.nbytes, PIECE)
    ]
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "bytes")

    def write():
        file = os.open(path, os.O_WRONLY | os.O_CREAT)
        for piece in pieces:
            os.write(file, piece)
        os.fsync(file)
        os.close(file)

    def read():
        file = os.open(path, os.O_RDONLY)
        for piece in pieces:
            os.readv(file, [piece])
        os.close(file)

    try:
        os.sync()
        written = _timed(write)
        _forget_pages(folder)
        return {"write": written, "from_disk": _timed(read), "read": _timed(read)}
    finally:
        shutil.rmtree(folder)


CASE = Case(
    about="a checkpoint of 1 GiB saved and restored, against plain writing and reading",
    subjects=[
        InPython("plain", plain, "tidemark"),
        InPython("tidemark", tidemark),
        InPython("tensorflow", tensorflow, "tf"),
    ],
    rows=[
        Row("save, with the flush", "tidemark.save", "plain.write", at_most_ratio=1.1, unit="s"),
        Row("restore from the disk", "tidemark.from_disk", "plain.from_disk", at_most_ratio=1.1,
            unit="s"),
        Row("restore", "tidemark.restore", "plain.read", at_most_ratio=2.0, unit="s"),
        Row("save, with the flush", "tidemark.save", "tensorflow.save", unit="s",
            peer_label="tf, no flush"),
        Row("restore", "tidemark.restore", "tensorflow.restore", at_most_ratio=1.0, unit="s",
            peer_label="tf"),
        Row("memory of saving", "tidemark.save_mib", at_most=64, unit="MiB"),
        Row("memory of restoring", "tidemark.restore_mib", at_most=64, unit="MiB"),
    ],
)  # fmt: skip
