"""Records what TensorFlow makes of the graphs of ``tests/python``: names of operations, frozen
graphs, and the results of graphs that were written here.

    python -m tidemark tools/record_graphs.py --write      # our graphs, with this package
    python tools/record_graphs.py                          # with a Python that has TensorFlow
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
TESTS = Path(__file__).resolve().parent.parent / "tests/python"
sys.path.insert(0, str(TESTS))
DATA = TESTS / "data/graphs"

import graph_exchange  # noqa: E402
import graph_programs  # noqa: E402
import numpy as np  # noqa: E402


def frozen(tf, build):
    """The model's GraphDef with values in place of variables, and the names of its outputs."""
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
        names = build(tf)
        sess.run(tf.global_variables_initializer())
        made = tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), names)
    return made, names


def results(tf, graph_def, names, feeds):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
        tf.import_graph_def(graph_def, name="")
        fetches = [graph.get_tensor_by_name(name + ":0") for name in names]
        return sess.run(fetches, {name + ":0": value for name, value in feeds.items()})


def names_of(tf):
    out = {}
    for name, build in graph_programs.PROGRAMS.items():
        with tf.Graph().as_default():
            rows = []
            for made in build(tf):
                operation = made if isinstance(made, tf.Operation) else made.op
                rows.append([made.name, operation.type])
            out[name] = rows
    return out


def write_ours(tf):
    """What this package makes of the models, for TensorFlow to read."""
    DATA.mkdir(parents=True, exist_ok=True)
    for name, (_, build) in graph_exchange.MODELS.items():
        made, _ = frozen(tf, build)
        (DATA / f"{name}.ours.pb").write_bytes(made.SerializeToString())


def record(tf):
    (TESTS / "data/graph_names.json").write_text(json.dumps(names_of(tf), indent=1) + "\n")
    for name, (shapes, build) in graph_exchange.MODELS.items():
        made, names = frozen(tf, build)
        feeds = graph_exchange.fed(shapes)
        expected = results(tf, made, names, feeds)
        ours = tf.GraphDef.FromString((DATA / f"{name}.ours.pb").read_bytes())
        for output, one, other in zip(
            names, expected, results(tf, ours, names, feeds), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6, err_msg=f"{name} {output}")
        (DATA / f"{name}.tensorflow.pb").write_bytes(made.SerializeToString())
        np.savez_compressed(DATA / f"{name}.npz", **dict(zip(names, expected, strict=True)))
        print(f"{name}: {len(made.node)} nodes there, {len(ours.node)} here, results agree")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    import tensorflow.compat.v1 as tf

    write_ours(tf) if write else record(tf)


if __name__ == "__main__":
    main()
