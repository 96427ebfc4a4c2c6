"""Records checkpoints that TensorFlow writes, and which of ours it reads.

    python -m tidemark tools/record_checkpoints.py --write FOLDER  # ours, with this package
    python tools/record_checkpoints.py FOLDER                 # with a Python that has TensorFlow

The second command writes ``tests/python/data/checkpoints``: TensorFlow's own files, and in
``read.json`` the checksums of those files of ours that it restored as a whole.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
TESTS = Path(__file__).resolve().parent.parent / "tests/python"
sys.path.insert(0, str(TESTS))
DATA = TESTS / "data/checkpoints"

import checkpoint_programs as programs  # noqa: E402

ALL = {**programs.PROGRAMS, **programs.KERAS_PROGRAMS}
LARGEST = 100_000  # bytes of a file that is kept


def write(tf, folder):
    """A checkpoint of every program."""
    for name, program in ALL.items():
        parts, every = program(tf)
        programs.fill(every)
        tf.train.Checkpoint(**parts).write(str(Path(folder) / name))


def checksum(folder, name):
    """Of both files of a checkpoint."""
    sha = hashlib.sha256()
    for suffix in (".index", ".data-00000-of-00001"):
        sha.update((Path(folder) / (name + suffix)).read_bytes())
    return sha.hexdigest()


def read(tf, folder):
    """name → checksum of the files, for the checkpoints that TensorFlow restores as a whole."""
    found = {}
    for name, program in ALL.items():
        parts, every = program(tf)
        programs.fill(every)
        wanted = programs.held(every)
        parts, every = program(tf)
        tf.train.Checkpoint(**parts).read(str(Path(folder) / name)).assert_consumed()
        if programs.held(every) != wanted:
            raise SystemExit(f"{name}: TensorFlow reads other values than were written")
        found[name] = checksum(folder, name)
    return found


def partitioned(tf, folder):
    """A variable in parts and one as a whole, by TensorFlow 1's Saver."""
    import numpy as np

    v1 = tf.compat.v1
    first = np.arange(200 * 3, dtype=np.float32).reshape(200, 3)

    def rows_of(shape, dtype=None, partition_info=None):
        at = partition_info.var_offset[0]
        return first[at : at + shape[0]]

    with tf.Graph().as_default():
        rows = v1.fixed_size_partitioner(3)
        with v1.variable_scope("scope", partitioner=rows):
            v1.get_variable("parted", shape=(200, 3), initializer=rows_of)
        v1.get_variable("whole", initializer=np.float32([1, 2]))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            v1.train.Saver().save(session, str(folder / "parts"), write_meta_graph=False,
                                  write_state=False)  # fmt: skip


def in_shards(tf, folder):
    """Variables of three devices, a file for each, by TensorFlow 1's Saver."""
    import numpy as np

    v1 = tf.compat.v1
    with tf.Graph().as_default():
        for at in range(3):
            with tf.device(f"/cpu:{at}"):
                v1.get_variable(f"v{at}", initializer=np.arange(4, dtype=np.float32) + at * 10)
        with v1.Session(config=v1.ConfigProto(device_count={"CPU": 3})) as session:
            session.run(v1.global_variables_initializer())
            saver = v1.train.Saver(sharded=True)
            place = str(folder / "shards")
            saver.save(session, place, write_meta_graph=False, write_state=False)


def others(tf, folder):
    """What has state that is no variable."""
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a", "b"], tf.constant([3, 4], tf.int64))
    dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -9, 8)
    dense.insert([1, 2, 3], [10, 20, 30])
    dense.remove(tf.constant([3], tf.int64))

    class Count(tf.train.experimental.PythonState):
        def serialize(self):
            return "twelve"

        def deserialize(self, text):
            pass

    iterator = iter(tf.data.Dataset.range(10))
    next(iterator)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(table=table, dense=dense, count=Count(), iterator=iterator),
        str(folder / "manager"), 2, checkpoint_name="état",
    )  # fmt: skip
    for _ in range(3):
        manager.save()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    import tensorflow as tf

    if arguments.write:
        write(tf, arguments.folder)
        return
    DATA.mkdir(parents=True, exist_ok=True)
    write(tf, DATA)
    partitioned(tf, DATA)
    in_shards(tf, DATA)
    others(tf, DATA)
    recorded = {"read": read(tf, arguments.folder), "written": {}}
    for name in ALL:
        recorded["written"][name] = checksum(DATA, name)
    for file in DATA.glob("*"):
        if file.is_file() and file.stat().st_size > LARGEST:
            file.unlink()
    (DATA / "read.json").write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
