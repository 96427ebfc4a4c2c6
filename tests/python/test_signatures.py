"""Our functions take TensorFlow's arguments, by its names, in its order, with its defaults."""

import importlib
import json
import sys
from pathlib import Path

import pytest

import tidemark as tf
from tidemark import _export

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import compare_signatures  # noqa: E402
import gen_stubs  # noqa: E402

THEIRS = json.loads((Path(__file__).parent / "data" / "tf_signatures.json").read_text())
OURS = compare_signatures.public_functions(tf)

# What differs on purpose, and why.
DIFFERENT = {
    "tf.function": "memory_budget bounds what a call may take",
    "tf.gather_nd": "no bad_indices_policy: an index out of range is always an error",
    "tf.reverse_sequence": "seq_axis has to be given; TensorFlow raises without it, too",
    "tf.shape": "the default says int32, which TensorFlow's None means",
    "tf.size": "the default says int32, which TensorFlow's None means",
    "tf.nn.silu": "takes a name, too",
    "tf.nn.swish": "takes a name, too",
    "tf.tensor_scatter_nd_update": "takes a bad_indices_policy, too",
}


def without_name(signature):
    """The name of an op is ignored, so its default may be any."""
    return ["name" if p.startswith("name=") else p for p in signature]


@pytest.mark.parametrize("name", sorted(THEIRS))
def test_as_tensorflow(name):
    assert name in OURS, "the recorded name is gone; run tools/compare_signatures.py --write"
    if THEIRS[name] is None:
        return
    same = without_name(OURS[name]) == without_name(THEIRS[name])
    assert same != (name in DIFFERENT), f"ours {OURS[name]}, TensorFlow's {THEIRS[name]}"


# Functions in Python that stand before an op of the same name, and why.
SHADOWS = {
    "tf.cast": "IndexedSlices stay what they are",
    "tf.dtypes.cast": "IndexedSlices stay what they are",
    "tf.unique": "a named tuple instead of a list",
    "tf.unique_with_counts": "a named tuple instead of a list",
}


def test_no_wrapper_hides_an_op_without_a_reason():
    for module in ("debugging", "linalg", "nn", "random"):
        importlib.import_module(f"tidemark.{module}")
    hidden = {
        name
        for name, op in _export.OPS.items()
        if _export.namespace(name.rpartition(".")[0])[name.rpartition(".")[2]] is not op
    }
    assert hidden == set(SHADOWS)


def test_every_exported_name_is_reachable():
    for name in _export.all_names():
        found = tf
        for part in name.split(".")[1:]:
            found = getattr(found, part)
        assert callable(found), name


def test_functions_say_what_they_do():
    for name in OURS:
        found = tf
        for part in name.split(".")[1:]:
            found = getattr(found, part)
        assert found.__doc__, name


def test_stubs_are_up_to_date():
    stale = [str(path.relative_to(ROOT)) for path in gen_stubs.out_of_date()]
    assert not stale, "run tools/gen_stubs.py"
