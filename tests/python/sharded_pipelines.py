"""Pipelines for workers to share: sharded_pipelines.py FILE, with TensorFlow's Python, records what
each of two workers gets of them under each AutoShardPolicy."""

import json
import sys
import tempfile
from pathlib import Path

POLICIES = ("AUTO", "FILE", "DATA", "HINT")


def files(folder):
    names = [str(Path(folder) / f"{i}.txt") for i in range(5)]
    for i, name in enumerate(names):
        Path(name).write_text("".join(f"{i}{line}\n" for line in range(3)))
    return names


def pipelines(tf, names):
    data, lines = tf.data.Dataset, tf.data.TextLineDataset
    hint = tf.data.experimental.SHARD_HINT
    pattern = str(Path(names[0]).parent / "*.txt")

    def shuffled():
        tf.random.set_seed(5)  # whatever ran before
        return data.from_tensor_slices(names).shuffle(5, seed=1).flat_map(lines)

    return {
        "reader": lambda: lines(names),
        "flat_map": lambda: data.from_tensor_slices(names).flat_map(lines),
        "interleave": lambda: data.list_files(pattern, shuffle=False).interleave(lines, 2),
        "batches": lambda: lines(names).map(lambda line: line + "!").batch(2).prefetch(1),
        "range": lambda: data.range(6),
        "hint": lambda: data.range(6).shard(hint, hint).map(lambda x: x * 10),
        "zip": lambda: data.zip((lines(names), lines(names))),
        "concatenate": lambda: lines(names[:3]).concatenate(lines(names[3:])),
        "few": lambda: lines(names[:1]),
        "shuffled": shuffled,
    }


def got(dataset):
    return [str(element) for element in dataset.as_numpy_iterator()]


def main(path):
    import tensorflow as tf
    from tensorflow.python.data.experimental.ops import distribute

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in pipelines(tf, files(folder)).items():
            for policy in POLICIES:
                for worker in range(2):
                    options = tf.data.Options()
                    options.experimental_distribute.auto_shard_policy = getattr(
                        tf.data.experimental.AutoShardPolicy, policy
                    )
                    dataset = make().with_options(options)
                    try:
                        rows = got(distribute._AutoShardDataset(dataset, 2, worker))
                    except tf.errors.OpError as error:
                        rows = type(error).__name__
                    found[f"{name} {policy} {worker}"] = rows
    Path(path).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
